#include "plan/choose.hpp"

#include "nth/growth.h"

#include <algorithm>

namespace nth::stack {

namespace {

constexpr std::int64_t return_address = 8;

class stub_chooser {
public:
  stub_chooser(const call_graph &g, const annotations &notes, const patchable_places &patchable,
               std::int64_t segment, const std::vector<double> &weights)
      : g_(g), notes_(notes), segment_(segment), weights_(weights), always_(patchable.always) {
    places_.charge = NTH_STUB_STACK + return_address;
    places_.calls = patchable.always;
    back_.assign(g.edges.size(), false);
    places_.entries = patchable.entries;
    places_.possible = patchable.calls;
  }

  chosen_stubs run() {
    t_ = solve(g_, notes_, &places_);
    // Each of these cuts makes others possible or needless; none is taken back, so this ends.
    while (cut_back_edges() || cut_forward_edges())
      t_ = solve(g_, notes_, &places_);
    // Without such a stub a caller may need no more than one either.
    while (leave_small())
      t_ = solve(g_, notes_, &places_);
    return {std::move(places_), std::move(t_), std::move(back_), always_};
  }

private:
  bool cut_back_edges() {
    bool any = false;
    for (std::size_t e = 0; e < g_.edges.size(); ++e)
      if (t_.back[e] && places_.possible[e] && !places_.calls[e]) {
        places_.calls[e] = back_[e] = true;
        any = true;
      }
    return any;
  }

  // Callees before callers, so that a cut at one function is seen by those that call it.
  bool cut_forward_edges() {
    std::vector<std::uint32_t> order(g_.nodes.size());
    for (std::uint32_t n = 0; n < order.size(); ++n)
      order[n] = n;
    std::stable_sort(order.begin(), order.end(),
                     [this](std::uint32_t a, std::uint32_t b) { return t_.component[a] < t_.component[b]; });
    need_.clear();
    for (const node_need &n : t_.needs)
      need_.push_back(n.need);
    bool any = false;
    for (const std::uint32_t n : order)
      if (!t_.closed[n] && (need_[n] == no_need || need_[n] > segment_))
        any = (weights_.empty() ? cut_calls_of(n) : cut_rarest_of(n)) || any;
    return any;
  }

  // As long as n needs too much: of the calls on its longest way the rarest that helps.
  bool cut_rarest_of(std::uint32_t n) {
    bool any = false;
    for (;;) {
      need_[n] = need_from_calls(n);
      if (need_[n] != no_need && need_[n] <= segment_)
        return any;
      const std::vector<std::uint32_t> way = longest_way(n);
      std::size_t rarest = way.size();
      for (std::size_t i = 0; i < way.size(); ++i) {
        const std::int64_t callee = need_[g_.edges[way[i]].callee];
        const bool helps = places_.possible[way[i]] && (callee == no_need || callee > places_.charge);
        if (helps && (rarest == way.size() || weights_[way[i]] < weights_[way[rarest]]))
          rarest = i;
      }
      if (rarest == way.size())
        return any;
      any = true;
      cut_site(way[rarest]);
      for (std::size_t i = rarest + 1; i-- > 0;)
        need_[g_.edges[way[i]].caller] = need_from_calls(g_.edges[way[i]].caller);
    }
  }

  void cut_site(std::uint32_t edge) {
    const std::uint32_t n = g_.edges[edge].caller;
    for (std::uint32_t e = g_.first_edge[n]; e < g_.first_edge[n + 1]; ++e)
      if (g_.edges[e].at == g_.edges[edge].at && is_plain(e) && places_.possible[e])
        places_.calls[e] = true;
  }

  // With the cuts of this round.
  [[nodiscard]] std::int64_t need_from_calls(std::uint32_t n) const {
    std::int64_t need = t_.touched[n];
    if (t_.closed[n] || need == no_need)
      return t_.needs[n].need;
    for (std::uint32_t e = g_.first_edge[n]; e < g_.first_edge[n + 1]; ++e) {
      if (t_.dropped[e] || (!is_plain(e) && !places_.calls[e]))
        continue;
      const std::int64_t callee = places_.calls[e] ? places_.charge : need_[g_.edges[e].callee];
      if (callee == no_need)
        return no_need;
      need = std::max(need, g_.edges[e].depth + callee);
    }
    return std::max(need, need_of_added(n));
  }

  // Calls that can't be cut, from n on to where a need has its end, or where no call is the reason for it.
  [[nodiscard]] std::vector<std::uint32_t> longest_way(std::uint32_t n) const {
    std::vector<std::uint32_t> way;
    std::vector<bool> seen(g_.nodes.size());
    while (!seen[n] && !t_.closed[n]) {
      seen[n] = true;
      std::int64_t longest = t_.touched[n] == no_need ? 0 : t_.touched[n];
      std::uint32_t next = no_call;
      for (std::uint32_t e = g_.first_edge[n]; e < g_.first_edge[n + 1]; ++e) {
        if (!is_plain(e))
          continue;
        const std::int64_t callee = need_[g_.edges[e].callee];
        const std::int64_t all = callee == no_need ? largest_need : g_.edges[e].depth + callee;
        if (all > longest) {
          longest = all;
          next = e;
        }
      }
      if (next == no_call)
        return way;
      way.push_back(next);
      n = g_.edges[next].callee;
    }
    return way;
  }

  [[nodiscard]] std::int64_t need_of_added(std::uint32_t n) const {
    std::int64_t need = 0;
    for (const call_edge &e : t_.added)
      if (e.caller == n && !places_.entries[e.callee]) {
        if (need_[e.callee] == no_need)
          return no_need;
        need = std::max(need, e.depth + need_[e.callee]);
      }
    return need;
  }

  // All edges of a call are cut together: it has one instruction.
  bool cut_calls_of(std::uint32_t n) {
    bool any = false;
    std::int64_t need = t_.touched[n];
    bool bounded = need != no_need;
    const auto take = [&](const call_edge &e, std::int64_t callee) {
      bounded = bounded && callee != no_need;
      need = std::max(need, e.depth + (callee == no_need ? 0 : callee));
    };
    for (std::uint32_t first = g_.first_edge[n]; first < g_.first_edge[n + 1];) {
      std::uint32_t end = first;
      bool too_large = false;
      for (; end < g_.first_edge[n + 1] && g_.edges[end].at == g_.edges[first].at; ++end)
        too_large = too_large || (is_plain(end) && exceeds(g_.edges[end]));
      for (; first < end; ++first) {
        if (!is_plain(first))
          continue;
        const bool cut = too_large && places_.possible[first];
        if (cut)
          places_.calls[first] = any = true;
        take(g_.edges[first], cut ? places_.charge : need_[g_.edges[first].callee]);
      }
    }
    for (const call_edge &e : t_.added)
      if (e.caller == n && !places_.entries[e.callee])
        take(e, need_[e.callee]);
    // What has an open call stays without a bound, which the next solution tells.
    need_[n] = bounded ? need : no_need;
    return any;
  }

  [[nodiscard]] bool is_plain(std::uint32_t edge) const {
    const call_edge &e = g_.edges[edge];
    const bool by_pointer =
        e.kind == edge_kind::indirect || e.kind == edge_kind::indirect_tail || g_.nodes[e.caller].is_set;
    return !t_.dropped[edge] && !places_.calls[edge] && !(by_pointer && places_.entries[e.callee]);
  }

  [[nodiscard]] bool exceeds(const call_edge &e) const {
    const std::int64_t callee = need_[e.callee];
    return callee == no_need || (callee > places_.charge && e.depth + callee > segment_);
  }

  // Whoever calls them is charged a stub already, and they need no more. They have no stubs themselves, and so are in
  // no cycle.
  bool leave_small() {
    bool any = false;
    for (std::uint32_t n = 0; n < g_.nodes.size(); ++n)
      if (places_.entries[n] && is_small(n)) {
        places_.entries[n] = false;
        any = true;
      }
    for (std::uint32_t first = 0; first < g_.edges.size();) {
      std::uint32_t end = first;
      bool cut = false;
      bool small = true;
      for (; end < g_.edges.size() && g_.edges[end].caller == g_.edges[first].caller &&
             g_.edges[end].at == g_.edges[first].at;
           ++end)
        if (places_.calls[end]) {
          cut = true;
          small = small && !always_[end] && is_small(g_.edges[end].callee);
        }
      for (; first < end; ++first)
        if (cut && small && places_.calls[first]) {
          places_.calls[first] = false;
          any = true;
        }
    }
    return any;
  }

  [[nodiscard]] bool is_small(std::uint32_t n) const {
    return goes_without_stub(t_.needs[n], places_.charge);
  }

  const call_graph &g_;
  const annotations &notes_;
  std::int64_t segment_;
  const std::vector<double> &weights_;
  const std::vector<bool> &always_;
  stub_places places_;
  need_table t_;
  std::vector<bool> back_;
  std::vector<std::int64_t> need_; // as cuts of this round leave it
};

} // namespace

chosen_stubs choose_stubs(const call_graph &g, const annotations &notes, const patchable_places &patchable,
                          std::int64_t segment, const std::vector<double> &weights) {
  return stub_chooser(g, notes, patchable, segment, weights).run();
}

} // namespace nth::stack
