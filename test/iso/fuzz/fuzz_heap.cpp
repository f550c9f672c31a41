// A string of bytes as operations on two heaps, each checked against the shadow (heap_trace.hpp).
//
//   byte 0      settings: 1, slots of four chunks; 2, blocks are checked; 4, an area of 4 MiB
//   each next   low 3 bits: what; the others and the following byte say which and how large
#include "../heap_trace.hpp"

#include <cstddef>
#include <cstdint>

namespace iso = nth::detail::iso;

namespace {

struct reader {
  const std::uint8_t *at;
  const std::uint8_t *end;
  std::uint8_t next() { return at < end ? *at++ : std::uint8_t{0}; }
};

// 1 … 32 MiB: a power of two and how far above it.
std::size_t size_from(reader &in) {
  const std::uint8_t a = in.next(), b = in.next();
  const std::size_t base = std::size_t{1} << a % 25;
  return base + base * b / 256;
}

} // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  reader in{data, data + size};
  const std::uint8_t how = in.next();
  iso::checking = (how & 2) != 0;
  {
    const iso::heap_area area(std::size_t{how & 4 ? 4U : 64U} << 20, 8, how & 1 ? 18 : 16);
    iso::trace t(2, std::size_t{96} << 20);
    while (in.at < in.end) {
      const std::uint8_t what = in.next();
      iso::trace::owned &o = t.at(what >> 3 & 1);
      iso::heap *by = (what >> 4 & 1) != 0 ? t.at((what >> 3 & 1) + 1U).h : o.h;
      switch (what & 7) {
      case 0:
      case 1:
        t.get(o, size_from(in), 16);
        break;
      case 2:
        t.give(o, in.next(), by);
        break;
      case 3:
        t.change(o, in.next(), size_from(in));
        break;
      case 4:
        t.get(o, size_from(in), std::size_t{1} << in.next() % 24);
        break;
      case 5:
        t.not_a_block(o, in.next(), by);
        break;
      case 6: // many of one size, or many away
        if (const std::size_t n = in.next(), each = size_from(in) % 9000; (what & 32) != 0)
          for (std::size_t i = 0; i < n; ++i)
            t.get(o, each + 1, 16);
        else
          for (std::size_t i = 0; i < n; ++i)
            t.give(o, i * (each | 1), by);
        break;
      default:
        t.compare(o);
        if ((what & 32) != 0)
          t.end(o);
        else if ((what & 64) != 0)
          t.travel(o);
        else
          iso::collect(o.h);
      }
    }
    t.compare(t.at(0));
    t.compare(t.at(1));
  }
  iso::checking = false;
  return 0;
}
