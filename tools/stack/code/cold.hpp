// Which calls lie on ways that end where nothing returns.
#pragma once

#include "code/depth.hpp"

namespace nth::stack {

// A call is cold if it lies in a fragment, or if no way on from its block comes to an end but at a call that does not
// return. `block_of_call`: of each of `calls`.
void mark_cold(const code_map &map, const depth_analysis &d, const std::vector<std::uint32_t> &block_of_call,
               std::vector<call_site> &calls);

} // namespace nth::stack
