// What `valgrind --tool=lackey --trace-mem=yes` writes:
//
//   I  04001090,3      an instruction: address, bytes
//    L 1ffefffe7c,8    a load of the instruction above
//    S 1ffefffe7c,8    a store
//    M 0421c7cc,4      a load and a store of the same place
//
// and between them valgrind's own lines, which begin with two of "=", "-" or "*".
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace trace {

struct event {
  char kind; // 'I', 'L', 'S', 'M'
  std::uint64_t address;
  std::uint64_t bytes;
};

// One line, without its end. 1: `e` is set; 0: a line of valgrind's own, or an empty one; -1: neither.
int read_line(std::string_view line, event &e);

// The lines of a file descriptor, read in large pieces.
class lines {
public:
  explicit lines(int file);

  bool next(std::string_view &line) {
    while (!cut(line))
      if (!refill())
        return false;
    return true;
  }
  std::uint64_t number() const { return count; } // of the last line

private:
  bool cut(std::string_view &line); // false: no whole line is here
  bool refill();                    // false: nothing is left

  int file;
  bool pipe = false;
  bool ended = false;
  std::uint64_t count = 0;
  std::unique_ptr<char[]> text;
  std::size_t begin = 0, end = 0; // of what has been read and not been handed out
};

[[noreturn]] void not_lackey(std::uint64_t number, std::string_view line);

// Hands each event of what is read from `file` to `take`, in order. Throws std::runtime_error, with the line, for
// what lackey does not write, and where reading fails.
template <class Take>
void read_events(int file, Take take) {
  lines all(file);
  std::string_view line;
  event e{};
  while (all.next(line)) {
    const int found = read_line(line, e);
    if (found < 0)
      not_lackey(all.number(), line);
    if (found > 0)
      take(e);
  }
}

} // namespace trace
