// A program without the relocations that the linker kept.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nth::stack {

// `bytes`: a whole ELF executable; `name`: of the file, for errors. Whatever is loaded stays where it is in the file; what
// is not moves together. Throws bad_input.
std::vector<std::uint8_t> without_kept_relocations(const std::vector<std::uint8_t> &bytes,
                                                   const std::string &name);

} // namespace nth::stack
