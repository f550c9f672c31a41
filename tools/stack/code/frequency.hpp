// How often each call of a function is made when it runs once, estimated from its control flow alone.
// Sources: Wagner, Maverick, Graham and Harrison, "Accurate static estimators for program optimization" (1994; paper 002
// names it for this); Wu and Larus, "Static branch frequency and program profile analysis" (1994): a loop goes on in 88 of
// 100 cases.
#pragma once

#include "code/depth.hpp"
#include "code/facts.hpp"

namespace nth::stack {

// `cold` of the calls is known.
void estimate_frequencies(const depth_analysis &d, const std::vector<std::uint32_t> &block_of_call,
                          std::vector<call_site> &calls);

} // namespace nth::stack
