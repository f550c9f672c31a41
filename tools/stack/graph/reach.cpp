#include "graph/reach.hpp"

namespace nth::stack {

callers::callers(const solver_view &v) : first_(v.size() + 1, 0), list_(v.calls.size()) {
  for (const live_call &c : v.calls)
    ++first_[c.callee + 1];
  for (std::uint32_t n = 0; n < v.size(); ++n)
    first_[n + 1] += first_[n];
  std::vector<std::uint32_t> fill(first_.begin(), first_.end() - 1);
  for (std::uint32_t n = 0; n < v.size(); ++n)
    for (std::uint32_t i = v.first[n]; i < v.first[n + 1]; ++i)
      list_[fill[v.calls[i].callee]++] = {n, i};
}

void find_ways(const solver_view &v, const callers &c, const std::vector<bool> &goals, bool through_closed,
               std::vector<std::uint32_t> &next, std::vector<bool> &reached) {
  std::vector<std::uint32_t> queue;
  reached = goals;
  for (std::uint32_t n = 0; n < v.size(); ++n)
    if (goals[n])
      queue.push_back(n);
  for (std::size_t at = 0; at < queue.size(); ++at)
    for (const callers::caller &from : c.of(queue[at])) {
      if (reached[from.node] || (!through_closed && v.closed[from.node]))
        continue;
      reached[from.node] = true;
      next[from.node] = v.calls[from.call].call;
      queue.push_back(from.node);
    }
}

} // namespace nth::stack
