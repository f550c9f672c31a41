// What a component with recursion needs where annotations bound how often its functions are entered.
//
// A stack in the component is a walk along its calls. Between two visits of annotated functions it runs through others,
// which must have no cycle of their own that grows; so it falls into pieces that begin at an annotated function:
//
//   start … a1 … a2 … a1 … a3 … end         at most n(a) pieces begin at a
//        ^pre  ^step^step^step^end
//
//   need(start) <= max(end(start), pre(start) + Σ n(a)·step(a) + max over a of (end(a) - step(a)))
//
// where step(a) is the longest piece from a to any annotated function, end(a) the deepest end without another one.
// With one annotated function this is the longest walk; with more it may be above it.
#pragma once

#include "graph/solve_view.hpp"

namespace nth::stack {

struct recursion_need {
  std::vector<std::int64_t> need; // of each member; empty: not bounded
  std::vector<std::uint32_t>
      cycle;             // then: calls that lead round without annotation, as indexes in solver_view::calls
  bool too_deep = false; // or this: the sum exceeds all limits
};

// `outward`: of each member the most that it needs without calls inside the component; all have a bound.
recursion_need bound_recursion(const solver_view &v, std::span<const std::uint32_t> members,
                               const std::vector<std::uint32_t> &local,
                               const std::vector<std::uint32_t> &component,
                               const std::vector<std::int64_t> &outward);

// A cycle that grows in a component, made of the members that notes do not bound; empty: there is none.
std::vector<std::uint32_t> growing_cycle(const solver_view &v, std::span<const std::uint32_t> members,
                                         const std::vector<std::uint32_t> &local,
                                         const std::vector<std::uint32_t> &component);

} // namespace nth::stack
