// Functions known by name: what a caller must know of them, and their code can't be seen or doesn't tell.
#pragma once

#include "code/scan.hpp"

namespace nth::stack {

// Of a function in this module, whose code shows an indirect jump, that it leaves its caller for good: longjmp.
bool leaves_by_jump(std::string_view symbol) noexcept;
bool returns_twice(std::string_view symbol) noexcept;
bool probes_stack(std::string_view symbol) noexcept;

} // namespace nth::stack
