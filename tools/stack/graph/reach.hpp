// Shortest ways to any of some nodes, from everywhere at once.
#pragma once

#include "graph/solve_view.hpp"

namespace nth::stack {

// Calls by callee.
class callers {
public:
  explicit callers(const solver_view &v);

  struct caller {
    std::uint32_t node = 0;
    std::uint32_t call = 0; // index in solver_view::calls
  };
  [[nodiscard]] std::span<const caller> of(std::uint32_t node) const noexcept {
    return {list_.data() + first_[node], first_[node + 1] - first_[node]};
  }

private:
  std::vector<std::uint32_t> first_;
  std::vector<caller> list_;
};

// Of each node the call (as in need_table) that is the first of a shortest way to one of `goals`; no_call: it is a goal,
// or there is no way. `reached` is set for all that have a way. Where `through_closed` is false, calls of closed
// functions do not count. A goal may have its call already in `next`, which stays.
void find_ways(const solver_view &v, const callers &c, const std::vector<bool> &goals, bool through_closed,
               std::vector<std::uint32_t> &next, std::vector<bool> &reached);

} // namespace nth::stack
