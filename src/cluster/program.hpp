// The program that this rank runs, as far as the others must have the same (design.md, section 7): threads carry
// addresses of its code and data from rank to rank.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nth::detail::cluster {

// Writes the build id that the linker has put into the program, in hexadecimal, or, without one, "contents " and a
// hash of what is loaded and never written. Always ends with a zero.
void describe_program(char *buffer, std::size_t size) noexcept;

// Whether code and data lie alike on all ranks. False: `why` names what does not, and how to link the program.
bool is_fixed_program(char *why, std::size_t size) noexcept;

// A hash of the sizes and offsets of all that crosses from rank to rank.
std::uint64_t layout_hash() noexcept;

} // namespace nth::detail::cluster
