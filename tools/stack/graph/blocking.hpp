// Which functions can reach a call that suspends their thread.
#pragma once

#include "graph/solve_view.hpp"

namespace nth::stack {

// By linker name: the calls of nth that may suspend the caller.
bool is_blocking_call(std::string_view symbol) noexcept;

// Nodes that may block by themselves: nth's calls, those that annotations name, and, if the program has any of these,
// functions whose callees are not all known.
std::vector<bool> blocking_nodes(const solver_view &v);

} // namespace nth::stack
