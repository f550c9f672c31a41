// What one instruction does to what is known of registers and stack.
#pragma once

#include "code/value.hpp"

namespace nth::stack {

struct step_context {
  frame_anchors anchors;
  bool writes_return_address = false; // some instruction does: ret may go anywhere
};

value address_of(const state &s, const memory_operand &m) noexcept;
// What `bytes` loaded from there are.
value load(const state &s, const memory_operand &m, unsigned bytes) noexcept;

void step(state &s, const instruction &i, step_context &c);
// What a call leaves, of which nothing is known but that it keeps to the calling convention.
void after_call(state &s) noexcept;
// What is known beyond it when the branch `i` is taken or not.
bool refine(state &s, const instruction &i, bool taken) noexcept; // false: that way is never taken

} // namespace nth::stack
