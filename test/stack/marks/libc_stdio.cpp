// Marks of libc: formatted and plain input and output.
#include "marks.hpp"

#include <clocale>
#include <cstdarg>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

using namespace nth::marks;

namespace {

std::string conversion(const char *letters) {
  static const std::vector<std::string> flags = {"", "-", "+", " ", "#", "0", "'", "+#", "-#", "0'"};
  std::string f = "<%" + one_of(flags);
  if (below(2) == 0)
    f += std::to_string(below(below(8) == 0 ? 3000 : 30));
  if (below(2) == 0)
    f += "." + std::to_string(below(below(8) == 0 ? 2500 : 25));
  return f + letters[below(std::strlen(letters))];
}
// The length modifier stands before the letter.
std::string with_length(const std::string &f, const char *length) {
  return f.substr(0, f.size() - 1) + length + f.back() + ">\n";
}

int through_v(char *room, std::size_t size, const char *format, ...) {
  va_list list;
  va_start(list, format);
  const int length = call("vsnprintf", room, size, format, &list[0]).as<int>();
  va_end(list);
  va_start(list, format);
  call("vfprintf", stdout, format, &list[0]);
  va_end(list);
  return length;
}

// Everything printf formats, by one function of the family.
template <class... Before>
void format_all(const char *function, int times, Before... before) {
  for (int i = 0; i < rounds(times); ++i) {
    const std::string integer = conversion("dixXou");
    call(function, before..., with_length(integer, "").c_str(), static_cast<int>(below(1U << 31U)));
    call(function, before..., with_length(integer, "l").c_str(), static_cast<long>(below(~0UL)));
    call(function, before..., with_length(integer, "hh").c_str(), static_cast<int>(below(300)));
    call(function, before..., with_length(integer, "z").c_str(), below(1000));
    const std::string real_format = conversion("fFeEgGaA");
    call(function, before..., with_length(real_format, "").c_str(), real());
    call(function, before..., with_length(real_format, "L").c_str(),
         static_cast<long double>(real()) * 1e200L);
    call(function, before..., with_length(conversion("s"), "").c_str(),
         text(below(below(5) == 0 ? 5000 : 50)));
    call(function, before..., "%5c|%-5c|%%\n", 'x', 'y');
    call(function, before..., "%p %*d %-*.*f\n", &i, 12, 5, 20, 3, real());
    call(function, before..., "%s %d %s %ld %g %c %x %s\n", "a", 1, "b", 2L, 2.5, 'c', 255, text(20));
    call(function, before..., "%3$s %1$d %2$f\n", 7, real(), "positions");
    call(function, before..., "%ls|%lc|%m\n", L"wide", L'w');
  }
}

} // namespace

MARKS(printf_to_text) {
  std::vector<char> room(30000);
  for (const char *locale : {"C", "C.UTF-8"}) {
    setlocale(LC_ALL, locale);
    format_all("sprintf", 40, room.data());
    format_all("snprintf", 40, room.data(), room.size());
    format_all("snprintf", 10, room.data(), 20UL);
    format_all("__sprintf_chk", 10, room.data(), 1, room.size());
    format_all("__snprintf_chk", 10, room.data(), room.size(), 1, room.size());
    char *made = nullptr;
    format_all("asprintf", 20, &made);
  }
  expect(through_v(room.data(), room.size(), "%d %s %f\n", 12, "twelve", 12.0) == 20, "a formatted line");
  for (const char *f : {"%.2000f", "%.2000e", "%.20000f", "%'.700f", "%.4000a"})
    call("snprintf", room.data(), room.size(), f, 1e308);
  call("snprintf", room.data(), room.size(), "%.5000Lf", 1e4900L);
  call("snprintf", room.data(), room.size(), "%2000d%.1500i", 1, 2);
}

MARKS(printf_to_stream) {
  format_all("printf", 40);
  format_all("fprintf", 20, stdout);
  std::vector<char> buffer(4096);
  std::FILE *unbuffered = std::fopen("/dev/null", "w");
  call("setvbuf", unbuffered, nullptr, _IONBF, 0UL);
  format_all("fprintf", 20, unbuffered);
  std::FILE *lines = std::fopen("/dev/null", "w");
  call("setvbuf", lines, buffer.data(), _IOLBF, buffer.size());
  format_all("fprintf", 10, lines);
  const int null = open("/dev/null", O_WRONLY);
  format_all("dprintf", 20, null);
}

MARKS(unlocked_first_print) { format_all("printf", 1); }

MARKS(wide_printf) {
  std::vector<wchar_t> room(9000);
  for (int i = 0; i < rounds(40); ++i) {
    call("swprintf", room.data(), room.size(), L"%d %ls %f %s\n", 5, L"wide", real(), text(30));
    call("swprintf", room.data(), room.size(), L"%-40.30Lf|%a|%'d\n", 3.5L, real(), 1234567);
  }
  std::FILE *wide = std::fopen("/dev/null", "w");
  call("fwide", wide, 1);
  for (int i = 0; i < rounds(20); ++i) {
    call("fwprintf", wide, L"%d %ls %f %s\n", 5, L"wide", real(), text(30));
    call("fputwc", static_cast<int>(L'x'), wide);
    call("fputws", L"a line\n", wide);
  }
  call("fclose", wide);
  int a = 0;
  double d = 0;
  call("swscanf", L"12 3.5 words", L"%d %lf", &a, &d);
  expect(a == 12, "a wide scan");
}

MARKS(scanning) {
  for (int i = 0; i < rounds(60); ++i) {
    int a = 0;
    long b = 0;
    double d = 0;
    float f = 0;
    long double l = 0;
    char s[200];
    char c = 0;
    unsigned u = 0;
    const std::string line = std::to_string(below(9999)) + " " + std::to_string(real()) + " " +
                             word(1 + below(90)) + " 0x" + std::to_string(below(9999));
    expect(call("sscanf", line.c_str(), "%d %lf %100s %x", &a, &d, s, &u).as<int>() >= 2, "a scanned line");
    call("sscanf", line.c_str(), "%ld%n", &b, &a);
    call("sscanf", line.c_str(), "%f %99[a-z] %c", &f, s, &c);
    call("sscanf", line.c_str(), "%Lg %*s %i", &l, &a);
    char *made = nullptr;
    call("sscanf", line.c_str(), "%*s %*s %ms", &made);
    call("sscanf", line.c_str(), "%2$s %1$d", &a, s);
    call("__isoc99_sscanf", line.c_str(), "%d %lf", &a, &d);
    call("sscanf", std::string(1500, '7').c_str(), "%lf", &d);
  }
}

MARKS(streams) {
  char path[] = "/tmp/nth_marks_XXXXXX";
  expect(close(call("mkstemp", path).as<int>()) == 0, "a temporary file");
  std::vector<char> room(20000, 'b');
  for (int i = 0; i < rounds(20); ++i) {
    auto *f = call("fopen", path, i % 2 == 0 ? "w+" : "a+").as<std::FILE *>();
    expect(f != nullptr, "an open file");
    for (int k = 0; k < 20; ++k) {
      call("fwrite", room.data(), 1UL, below(k % 5 == 0 ? 20000 : 200), f);
      call("fputs", text(below(200)), f);
      call("fputc", 'x', f);
      call("putc", '\n', f);
      call("fprintf", f, "%d %s\n", k, text(30));
    }
    call("fputc_unlocked", 'u', f);
    call("fwrite_unlocked", "abc", 1UL, 3UL, f);
    call("fflush", f);
    call("fseek", f, static_cast<long>(below(500)), SEEK_SET);
    call("ftell", f);
    for (int k = 0; k < 20; ++k) {
      call("fread", room.data(), 1UL, below(k % 5 == 0 ? 20000 : 200), f);
      call("fgets", room.data(), 100, f);
      call("ungetc", call("fgetc", f).as<int>(), f);
      call("getc", f);
      if (k % 6 == 0)
        call("fseeko", f, static_cast<long>(below(500)), SEEK_SET);
    }
    call("rewind", f);
    char *line = nullptr;
    std::size_t size = 0;
    call("getline", &line, &size, f);
    call("getdelim", &line, &size, '0', f);
    call("free", line);
    int a = 0;
    call("fscanf", f, "%d", &a);
    fpos_t position;
    call("fgetpos", f, &position);
    call("fsetpos", f, &position);
    call("feof", f);
    call("ferror", f);
    call("clearerr", f);
    call("fileno", f);
    call("flockfile", f);
    call("funlockfile", f);
    f = call("freopen", path, "r", f).as<std::FILE *>();
    call("fclose", f);
    auto *fd_stream = call("fdopen", open(path, O_RDONLY), "r").as<std::FILE *>();
    call("fclose", fd_stream);
  }
  call("puts", "a line");
  call("putchar", 'x');
  call("perror", "a message that this marks program prints");
  char *made = nullptr;
  std::size_t made_size = 0;
  auto *memory = call("open_memstream", &made, &made_size).as<std::FILE *>();
  for (int k = 0; k < 300; ++k)
    call("fputs", text(100), memory);
  call("fclose", memory);
  auto *reader = call("fmemopen", room.data(), room.size(), "r").as<std::FILE *>();
  call("fgets", room.data(), 50, reader);
  call("fclose", reader);
  call("tmpfile");
  call("tmpnam", room.data());
  call("fcloseall");
  call("remove", path);
}

MARKS(pipes_to_programs) {
  auto *f = call("popen", "echo one two", "r").as<std::FILE *>();
  char line[100] = "";
  call("fgets", line, 100, f);
  expect(std::string_view(line) == "one two\n", "what the program printed");
  call("pclose", f);
  call("system", "true");
}
