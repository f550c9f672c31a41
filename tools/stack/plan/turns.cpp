#include "plan/turns.hpp"

#include <algorithm>

namespace nth::stack {

turn_lengths::turn_lengths(const call_graph &g, const chosen_stubs &chosen)
    : g_(g), chosen_(chosen), order_(g.nodes.size()) {
  for (std::uint32_t n = 0; n < order_.size(); ++n)
    order_[n] = n;
  std::stable_sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return chosen.needs.component[a] < chosen.needs.component[b];
  });
}

bool turn_lengths::is_plain(std::uint32_t edge) const {
  const call_edge &e = g_.edges[edge];
  const bool by_pointer =
      e.kind == edge_kind::indirect || e.kind == edge_kind::indirect_tail || g_.nodes[e.caller].is_set;
  return !chosen_.needs.dropped[edge] && !chosen_.places.calls[edge] &&
         !(by_pointer && chosen_.places.entries[e.callee]);
}

std::int64_t turn_lengths::of(std::uint32_t edge) const {
  const call_edge &back = g_.edges[edge];
  constexpr std::int64_t no_way = -1;
  std::vector<std::int64_t> to_caller(g_.nodes.size(), no_way);
  for (const std::uint32_t n : order_) {
    if (n == back.caller) // where the turn ends; no way goes round
      to_caller[n] = 0;
    for (std::uint32_t e = g_.first_edge[n]; n != back.caller && e < g_.first_edge[n + 1]; ++e)
      if (const std::int64_t rest = to_caller[g_.edges[e].callee]; rest != no_way && is_plain(e))
        to_caller[n] = std::max(to_caller[n], add_depths(g_.edges[e].depth, rest));
  }
  return to_caller[back.callee] == no_way ? 0 : add_depths(back.depth, to_caller[back.callee]);
}

} // namespace nth::stack
