#include "graph/call_graph.hpp"

#include <algorithm>
#include <tuple>

namespace nth::stack {

std::span<const call_edge> call_graph::calls_of(std::uint32_t node) const noexcept {
  const std::uint32_t from = first_edge[node];
  return {edges.data() + from, first_edge[node + 1] - from};
}

void call_graph::sort() {
  std::sort(edges.begin(), edges.end(), [](const call_edge &a, const call_edge &b) {
    return std::tie(a.caller, a.at, a.callee) < std::tie(b.caller, b.at, b.callee);
  });
  std::sort(open.begin(), open.end(), [](const open_call &a, const open_call &b) {
    return std::tie(a.caller, a.at) < std::tie(b.caller, b.at);
  });
  first_edge.assign(nodes.size() + 1, 0);
  for (const call_edge &e : edges)
    ++first_edge[e.caller + 1];
  for (std::size_t i = 1; i < first_edge.size(); ++i)
    first_edge[i] += first_edge[i - 1];
}

} // namespace nth::stack
