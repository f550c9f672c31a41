// The longest paths: components in the order callees before callers, each by what it is: no cycle, a cycle of jumps,
// a recursion.
#pragma once

#include "graph/solve_view.hpp"

namespace nth::stack {

struct longest_paths {
  component_list components;
  std::vector<std::int64_t> need;    // of each node; no_need
  std::vector<std::int64_t> segment; // the same without the calls in `back`
  std::vector<bool> back;            // of each of solver_view::calls
  std::vector<bool> in_cycle;        // of each node
  std::vector<cause> why;            // of a node that is the reason why it and its callers have no bound
  std::vector<std::vector<std::uint32_t>> cycles; // named ones, calls as indexes in solver_view::calls
};

longest_paths find_longest_paths(const solver_view &v);

} // namespace nth::stack
