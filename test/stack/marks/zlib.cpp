// Marks of zlib.
#include "marks.hpp"

#include <algorithm>
#include <zlib.h>

using namespace nth::marks;

MARKS(one_call) {
  std::vector<unsigned char> packed(400000);
  std::vector<unsigned char> back(300000);
  for (int i = 0; i < rounds(30); ++i) {
    const auto from = bytes(below(i % 4 == 0 ? 200000 : 3000));
    uLongf size = packed.size();
    call("compressBound", from.size());
    expect(call("compress2", packed.data(), &size, from.data(), from.size(), i % 10).as<int>() == Z_OK,
           "packed");
    uLongf back_size = back.size();
    expect(call("uncompress", back.data(), &back_size, packed.data(), size).as<int>() == Z_OK, "unpacked");
    expect(back_size == from.size(), "unpacked as it was");
    packed[below(size)] ^= 4;
    call("uncompress", back.data(), &back_size, packed.data(), size);
    size = packed.size();
    call("compress", packed.data(), &size, from.data(), from.size());
    call("crc32", 0UL, from.data(), from.size());
    call("adler32", 1UL, from.data(), from.size());
    call("crc32_combine", 5UL, 9UL, static_cast<long>(from.size()));
    call("adler32_combine", 5UL, 9UL, static_cast<long>(from.size()));
  }
}

MARKS(in_pieces) {
  std::vector<unsigned char> packed(400000);
  std::vector<unsigned char> back(300000);
  for (int i = 0; i < rounds(60); ++i) {
    const auto from = bytes(1 + below(60000));
    z_stream s = {};
    const int window = one_of<int>({15, 9, -15, 31, 12});
    call("deflateInit2_", &s, i % 10, Z_DEFLATED, window, static_cast<int>(1 + below(9)),
         static_cast<int>(below(5)), ZLIB_VERSION, static_cast<int>(sizeof s));
    if (i % 7 == 0 && window != 31)
      call("deflateSetDictionary", &s, from.data(), static_cast<unsigned>(below(from.size())));
    s.next_in = const_cast<unsigned char *>(from.data());
    s.next_out = packed.data();
    std::size_t left = from.size();
    while (left > 0) {
      s.avail_in = static_cast<unsigned>(1 + below(left));
      left -= s.avail_in;
      s.avail_out = static_cast<unsigned>(packed.size() - s.total_out);
      call("deflate", &s, static_cast<int>(one_of<int>({Z_NO_FLUSH, Z_SYNC_FLUSH, Z_FULL_FLUSH, Z_BLOCK})));
      if (below(6) == 0)
        call("deflateParams", &s, static_cast<int>(below(10)), static_cast<int>(below(4)));
      if (below(6) == 0)
        call("deflateTune", &s, 4, 4, 16, 16);
    }
    s.avail_out = static_cast<unsigned>(packed.size() - s.total_out);
    call("deflate", &s, Z_FINISH);
    z_stream copy = {};
    call("deflateCopy", &copy, &s);
    call("deflateEnd", &copy);
    call("deflateReset", &s);
    const std::size_t size = static_cast<std::size_t>(s.next_out - packed.data());
    call("deflateEnd", &s);

    z_stream u = {};
    call("inflateInit2_", &u, window == 31 ? 47 : window, ZLIB_VERSION, static_cast<int>(sizeof u));
    u.next_in = packed.data();
    u.next_out = back.data();
    std::size_t in_left = size;
    for (int status = Z_OK; status == Z_OK || status == Z_BUF_ERROR || status == Z_NEED_DICT;) {
      if (in_left == 0 && u.avail_in == 0)
        break;
      const std::size_t more = std::min(in_left, 1 + below(3000));
      u.avail_in += static_cast<unsigned>(more);
      in_left -= more;
      u.avail_out = static_cast<unsigned>(back.size() - u.total_out);
      status = call("inflate", &u, static_cast<int>(below(2) == 0 ? Z_NO_FLUSH : Z_SYNC_FLUSH)).as<int>();
      if (status == Z_NEED_DICT)
        break;
    }
    call("inflateSync", &u);
    call("inflateReset", &u);
    call("inflateEnd", &u);
  }
}

MARKS(files) {
  char path[] = "/tmp/nth_marks_zXXXXXX";
  call("mkstemp", path);
  std::vector<char> room(5000);
  for (int i = 0; i < rounds(5); ++i) {
    auto *f = call("gzopen", path, i % 2 == 0 ? "wb9" : "wb1").as<gzFile>();
    expect(f != nullptr, "an open file");
    for (int k = 0; k < 50; ++k) {
      call("gzwrite", f, text(2000), 2000U);
      call("gzputs", f, text(30));
      call("gzputc", f, 'x');
      call("gzprintf", f, "%d %s %f\n", k, text(10), real());
    }
    call("gzflush", f, Z_SYNC_FLUSH);
    call("gzclose", f);
    f = call("gzopen", path, "rb").as<gzFile>();
    for (int k = 0; k < 50; ++k) {
      call("gzread", f, room.data(), 900U);
      call("gzgets", f, room.data(), 100);
      call("gzgetc", f);
      call("gzungetc", 'y', f);
    }
    call("gzseek", f, 100L, 0);
    call("gztell", f);
    call("gzeof", f);
    call("gzrewind", f);
    call("gzclose", f);
  }
  call("unlink", path);
  call("gzopen", "/none/such", "rb");
  call("zlibVersion");
  call("zlibCompileFlags");
}
