#include "os/limits.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace nth::detail::os {

namespace {

// A text that grows in a buffer; what does not fit is left out.
class text {
public:
  text(char *place, std::size_t size) noexcept : at(place), room(size) {
    if (room != 0)
      *at = '\0';
  }
  [[gnu::format(printf, 2, 3)]] void add(const char *format, ...) noexcept {
    va_list arguments;
    va_start(arguments, format);
    const int length = std::vsnprintf(at, room, format, arguments);
    va_end(arguments);
    const std::size_t n = length < 0 || room == 0                       ? 0
                          : static_cast<std::size_t>(length) < room - 1 ? static_cast<std::size_t>(length)
                                                                        : room - 1;
    at += n;
    room -= n;
  }

private:
  char *at;
  std::size_t room;
};

// One line of /proc/self/maps after the other, without memory of its own.
class map_lines {
public:
  map_lines() noexcept : file(open("/proc/self/maps", O_RDONLY | O_CLOEXEC)) {}
  ~map_lines() {
    if (file >= 0)
      close(file);
  }
  map_lines(const map_lines &) = delete;
  map_lines &operator=(const map_lines &) = delete;

  // Without its newline; what exceeds the buffer is lost.
  bool next(char *line, std::size_t size) noexcept {
    std::size_t length = 0;
    for (;;) {
      if (used == held) {
        const ssize_t got = file < 0 ? 0 : read(file, buffer, sizeof buffer);
        if (got <= 0)
          return false;
        held = static_cast<std::size_t>(got);
        used = 0;
      }
      const char c = buffer[used++];
      if (c == '\n')
        break;
      if (length + 1 < size)
        line[length++] = c;
    }
    line[length] = '\0';
    return true;
  }

private:
  int file;
  std::size_t used{0};
  std::size_t held{0};
  char buffer[1024];
};

bool overcommit_is_off() noexcept {
  const int file = open("/proc/sys/vm/overcommit_memory", O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return false;
  char mode = '0';
  const bool known = read(file, &mode, 1) == 1;
  close(file);
  return known && mode == '2';
}

} // namespace

const char *describe_limits(char *buffer, std::size_t size) noexcept {
  struct {
    decltype(RLIMIT_AS) which; // glibc: an enumeration in C++
    const char *text;
  } constexpr limits[] = {{RLIMIT_AS, "address space (ulimit -v)"}, {RLIMIT_DATA, "data (ulimit -d)"}};
  text out(buffer, size);
  const char *between = "";
  for (const auto &l : limits) {
    rlimit now;
    if (getrlimit(l.which, &now) != 0 || now.rlim_cur == RLIM_INFINITY)
      continue;
    out.add("%sthe limit on %s is %lu KiB: raise it", between, l.text,
            static_cast<unsigned long>(now.rlim_cur >> 10));
    between = "; ";
  }
  if (overcommit_is_off()) {
    out.add("%svm.overcommit_memory is 2: raise vm.overcommit_ratio", between);
    between = "; ";
  }
  if (*between == '\0')
    out.add("no limit (ulimit -v, -d) is set: less must be mapped or in use");
  return buffer;
}

bool describe_mapping(std::uintptr_t begin, std::uintptr_t end, char *buffer, std::size_t size) noexcept {
  map_lines lines;
  char line[256];
  while (lines.next(line, sizeof line)) {
    char *rest = line;
    const unsigned long first = std::strtoul(line, &rest, 16);
    if (*rest != '-')
      return false;
    const unsigned long past = std::strtoul(rest + 1, &rest, 16);
    if (past <= begin)
      continue;
    if (first >= end)
      return false;
    const char *name = std::strpbrk(rest, "/[");
    std::snprintf(buffer, size, "%.100s at 0x%lx-0x%lx", name == nullptr ? "memory without a name" : name,
                  first, past);
    return true;
  }
  return false;
}

} // namespace nth::detail::os
