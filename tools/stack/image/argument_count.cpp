// How many argument registers a call by a signature sets.
#include "image/debug_info.hpp"

#include <algorithm>
#include <charconv>

namespace nth::stack {

namespace {

constexpr unsigned of_long_double = 16; // or of a quadruple number
constexpr unsigned most_in_registers = 16;

struct bounds {
  argument_count least;
  argument_count most;
};

bounds always(unsigned integers, unsigned vectors) { return {{integers, vectors}, {integers, vectors}}; }

// Of a parameter. C++ passes a class by reference if copying it takes more than moving its bytes.
bounds of_class(char letter, unsigned size) {
  switch (letter) {
  case 'p':
    return always(1, 0);
  case 'i':
    return size <= 8 ? always(1, 0) : bounds{{}, {2, 0}};
  case 'f':
    return size < of_long_double ? always(0, 1) : bounds{{}, {0, 1}};
  case 'c':
    return size <= 8 ? always(0, 1) : size <= 16 ? always(0, 2) : bounds{{}, {0, 0}};
  case 'v':
    return size == 16 ? always(0, 1) : bounds{{}, {2, 1}};
  case 's':
    return size <= most_in_registers ? bounds{{}, {2, 2}} : bounds{{}, {1, 1}};
  default:
    return {{}, {2, 2}};
  }
}

// The address of a result that the callee writes is an argument.
bounds of_result(char letter, unsigned size) {
  switch (letter) {
  case 's':
  case 'c':
  case 'v':
  case '?':
    // A structure of one vector of 32 or 64 bytes is returned in a register.
    return letter == 's' && size > most_in_registers && size != 32 && size != 64 ? always(1, 0)
                                                                                 : bounds{{}, {1, 0}};
  default:
    return always(0, 0);
  }
}

void add(argument_count &to, const argument_count &more) {
  to.integers += more.integers;
  to.vectors += more.vectors;
}

bounds count(const signature &s) {
  bounds all;
  bool result = false;
  std::string_view rest = s.text;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
    if (word == "->") {
      result = true;
      continue;
    }
    if (word.empty())
      continue;
    unsigned size = 0;
    std::from_chars(word.data() + 1, word.data() + word.size(), size);
    const bounds b = result ? of_result(word.front(), size) : of_class(word.front(), size);
    add(all.least, b.least);
    add(all.most, b.most);
  }
  return all;
}

argument_count within_registers(argument_count c) {
  return {std::min(c.integers, 6U), std::min(c.vectors, 8U)};
}

} // namespace

argument_count least_arguments(const signature &s) noexcept {
  return s.variadic || !s.prototyped ? argument_count{} : within_registers(count(s).least);
}

argument_count most_arguments(const signature &s) noexcept {
  return s.variadic || !s.prototyped ? argument_count{6, 8} : within_registers(count(s).most);
}

} // namespace nth::stack
