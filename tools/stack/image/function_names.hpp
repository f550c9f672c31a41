// Which of a function's names is shown, and how.
#pragma once

#include <string>
#include <string_view>

namespace nth::stack {

struct name_candidate {
  std::string_view symbol;
  bool global = false;
};

// Whether `a` is shown rather than `b`: global before local, then the fewest leading underscores (but those of C++
// and Rust names), then the shortest, then by alphabet.
bool better_name(const name_candidate &a, const name_candidate &b) noexcept;

// Of C++; other names, and those that would become absurdly long, come back as they are.
std::string demangle(std::string_view symbol);

// Parts that compilers move away from their function: foo.cold, foo.cold.1.
enum class cold_part : unsigned char { no, yes, numbered };
cold_part is_cold_part(std::string_view symbol) noexcept;

} // namespace nth::stack
