// Which of the registers that calls keep (rbx, rbp, r12 to r15) a function reads after each of its calls: what a context
// switch there would have to save for it (paper 002, section 6: inter-procedural live registers).
#pragma once

#include "code/depth.hpp"
#include "code/facts.hpp"

namespace nth::stack {

// Sets call_site::live and function_facts::untouched.
void find_live_registers(const depth_analysis &d, const std::vector<std::uint32_t> &block_of_call,
                         function_facts &f);

} // namespace nth::stack
