// Which calls of a component to cut so that nothing in it comes round again (paper 002, figure 1(b)): few of them,
// rather cold ones, and none where no stub can stand.
#pragma once

#include "graph/solve_view.hpp"

namespace nth::stack {

// The members of a component in groups: members between which one can go round by calls that cannot be cut are one
// group. Groups are numbered so that every call that is not cut leads to the same group or to a later one.
struct cut_component {
  std::vector<std::uint32_t> group; // of each member, in the order of the members
  std::uint32_t groups = 0;
  std::vector<std::uint32_t> back; // calls, as indexes in solver_view::calls
};

// `local`: of each of the members its place among them; `component`: of each node.
cut_component cut_cycles(const solver_view &v, std::span<const std::uint32_t> members,
                         const std::vector<std::uint32_t> &local, const std::vector<std::uint32_t> &component,
                         const std::vector<bool> &is_entered);

} // namespace nth::stack
