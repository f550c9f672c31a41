// What the debug information (DWARF) tells of functions: their parameters and results, as a call passes them.
#pragma once

#include "image/module.hpp"

#include <unordered_map>

namespace nth::stack {

// Written as "i4 p f8 -> p": a class and a size in bytes for each parameter, then for the result. Classes: i integer,
// truth value, enumeration; p pointer or reference (no size); f floating point; c complex; v vector; s structure,
// union, array; ? of a type that is not told, or of a parameter that the compiler adds to those of the source and may
// pass or not (no size); a result may be - (none).
struct signature {
  std::string text;
  bool variadic = false;
  bool prototyped = true; // false: C of old style, `f()`: calls may pass anything
};

// Registers for arguments (psABI 3.2.3) that a call by a signature sets, in the order of the convention; the address of
// a result in memory counts.
struct argument_count {
  unsigned integers = 0;
  unsigned vectors = 0;
};
// Where text does not decide (a small structure may lie in either kind, or in memory): the fewest, the most.
argument_count least_arguments(const signature &s) noexcept;
argument_count most_arguments(const signature &s) noexcept;

class debug_info {
public:
  debug_info() = default;
  // From the module itself, or from the file that was split from it, which `directory` has by its build-id. Of
  // damaged information, what can be read of it.
  explicit debug_info(const module &m, const std::filesystem::path &directory = "/usr/lib/debug");

  std::string path; // of the file that was read; "" where there is none

  // Of the function that begins there; nullptr where nothing is told, or different things: linkers fold functions of
  // the same code into one. Nothing is told of languages that have a calling convention of their own.
  [[nodiscard]] const signature *of(address entry) const noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return by_entry_.size(); } // functions told of

private:
  void add(address entry, signature s);

  static constexpr std::uint32_t contradicting = ~std::uint32_t{0};

  std::vector<signature> signatures_; // each once
  std::unordered_map<std::string, std::uint32_t> known_;
  std::unordered_map<address, std::uint32_t> by_entry_;

  friend class debug_reader;
};

} // namespace nth::stack
