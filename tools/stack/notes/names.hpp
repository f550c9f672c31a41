// Names of functions as people write them, against those that linkers and demanglers make of them.
#pragma once

#include <string>
#include <string_view>

namespace nth::stack {

// Without what compilers append to a copy or a part of a function (.isra.0, .cold, " [clone .part.1]"), in linker
// names and demangled ones.
std::string_view without_clone(std::string_view name) noexcept;

// Of a demangled name: "std::vector<int>::push_back(int const&)" → "std::vector::push_back"; "operator()" stays.
std::string without_parameters(std::string_view demangled);

// "std::vector::push_back" → "push_back".
std::string_view last_part(std::string_view bare) noexcept;

} // namespace nth::stack
