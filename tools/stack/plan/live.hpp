// What a context switch would have to save at each call that may suspend its thread, if it knew what the callers up to the
// thread's root still read (paper 002, section 6).
#pragma once

#include "plan/patched_program.hpp"

namespace nth::stack {

struct suspending_call {
  std::uint32_t caller = 0;
  address at = 0;
  kept_registers own = 0;  // read by the function that makes it
  kept_registers live = 0; // by any function that may be on the stack then
};

// Calls of nth's own blocking functions from the patched program.
std::vector<suspending_call> find_suspending_calls(const patched_program &program, const call_graph &g);

} // namespace nth::stack
