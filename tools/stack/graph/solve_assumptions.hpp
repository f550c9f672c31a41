// Which assumptions the need of each function rests on: those of any call that it can reach, for the longest path is
// the longest only among the callees that are believed to be all.
#pragma once

#include "graph/solve_paths.hpp"

namespace nth::stack {

// The first max_assumptions, and whether there are more: this much of a union depends only on as much of its parts.
struct assumption_set {
  std::vector<std::uint32_t> first;
  bool more = false;

  friend bool operator==(const assumption_set &, const assumption_set &) = default;
};

struct resting_assumptions {
  std::vector<assumption_set> sets;     // [0] is empty
  std::vector<std::uint32_t> component; // of each component: its set
};

resting_assumptions find_assumptions(const solver_view &v, const component_list &components);

} // namespace nth::stack
