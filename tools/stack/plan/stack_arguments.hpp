// How much a callee may touch above its return address, with what it jumps to: so much has to be copied to a new segment.
#pragma once

#include "plan/patched_program.hpp"

namespace nth::stack {

// Of each node, bytes; unknown_arguments.
std::vector<std::int64_t> argument_bytes(const patched_program &program, const call_graph &g);

} // namespace nth::stack
