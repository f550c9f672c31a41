// The bytes of a program as a plan wants them.
#pragma once

#include "image/functions.hpp"
#include "patch/link_plan.hpp"

namespace nth::stack {

// Of the whole file, kept relocations still in it. `m` has passed check_patchable(). Throws bad_input, with the name of what
// can't be done.
std::vector<std::uint8_t> patch(const module &m, const function_table &table, const link_plan &plan);

} // namespace nth::stack
