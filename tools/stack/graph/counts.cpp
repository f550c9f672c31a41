#include "graph/solve.hpp"

#include <algorithm>

namespace nth::stack {

namespace {

// Direct calls of `node` that close a cycle; one instruction counts once.
std::size_t back_calls(const call_graph &g, const need_table &t, std::uint32_t node) {
  std::vector<address> places;
  const auto take = [&](const call_edge &e, bool back) {
    if (back && e.kind == edge_kind::direct)
      places.push_back(e.at);
  };
  for (std::uint32_t e = g.first_edge[node]; e < g.first_edge[node + 1]; ++e)
    take(g.edges[e], t.back[e]);
  const auto first = std::lower_bound(t.added.begin(), t.added.end(), node,
                                      [](const call_edge &e, std::uint32_t n) { return e.caller < n; });
  for (auto e = first; e != t.added.end() && e->caller == node; ++e)
    take(*e, t.added_back[static_cast<std::size_t>(e - t.added.begin())]);
  std::sort(places.begin(), places.end());
  return static_cast<std::size_t>(std::unique(places.begin(), places.end()) - places.begin());
}

} // namespace

call_counts count_calls(const call_graph &g, const need_table &t, std::string_view module) {
  call_counts counts;
  for (std::uint32_t n = 0; n < g.nodes.size(); ++n) {
    const call_node &node = g.nodes[n];
    if (node.is_set || (!module.empty() && node.module != module))
      continue;
    ++counts.procedures;
    counts.call_sites += node.call_sites;
    counts.indirect_calls += node.indirect_sites;
    counts.back_edges += back_calls(g, t, n);
    switch (t.needs[n].sure) {
    case certainty::proved:
      ++counts.proved;
      break;
    case certainty::assumed:
      ++counts.assumed;
      break;
    case certainty::unbounded:
      ++counts.unbounded;
      break;
    }
  }
  const std::size_t others = counts.back_edges + counts.indirect_calls;
  counts.forward_edges = counts.call_sites > others ? counts.call_sites - others : 0;
  return counts;
}

} // namespace nth::stack
