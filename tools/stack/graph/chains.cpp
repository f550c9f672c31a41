// Single paths, found when they are asked for: what solve() keeps of each function is a number, not its path.
#include "graph/solve.hpp"
#include "graph/solve_view.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace nth::stack {

namespace {

std::int64_t depth_of(const call_edge &e) noexcept {
  return std::clamp<std::int64_t>(e.depth, 0, largest_need);
}

class walker {
public:
  walker(const call_graph &g, const need_table &t) : g_(g), t_(t) {}

  std::vector<chain_link> worst(std::uint32_t node) {
    std::vector<chain_link> chain;
    if (t_.needs[node].need == no_need) {
      follow(t_.to_cause, node, chain);
      return chain;
    }
    for (;;) {
      const bool recursive = t_.needs[node].in_cycle;
      const std::int64_t need = recursive ? largest_exit(node) : t_.needs[node].need;
      std::uint32_t exit = no_call;
      std::vector<chain_link> way;
      const std::uint32_t last = go(node, way, [&](std::uint32_t n) { return leaves_with(n, need, exit); });
      if (recursive)
        show_turn(node, add_depths(sum(way), need), chain);
      chain.insert(chain.end(), way.begin(), way.end());
      if (exit == no_call) {
        chain.push_back({last, 0, t_.touched[last]});
        return chain;
      }
      const call_edge &e = call_at(g_, t_, exit);
      chain.push_back({last, e.at, depth_of(e)});
      node = e.callee;
    }
  }

  // Until a function has no next call, or comes twice.
  void follow(const std::vector<std::uint32_t> &next, std::uint32_t node, std::vector<chain_link> &chain) {
    std::unordered_set<std::uint32_t> seen;
    while (next[node] != no_call && seen.insert(node).second) {
      const call_edge &e = call_at(g_, t_, next[node]);
      chain.push_back({node, e.at, depth_of(e)});
      node = e.callee;
    }
    chain.push_back({node, 0, std::max<std::int64_t>(t_.touched[node], 0)});
  }

  template <typename F>
  void each_call(std::uint32_t node, F &&f) const {
    if (t_.closed[node])
      return;
    for (std::uint32_t e = g_.first_edge[node]; e < g_.first_edge[node + 1]; ++e)
      if (!t_.dropped[e])
        f(e, g_.edges[e]);
    const auto first =
        std::lower_bound(t_.added.begin(), t_.added.end(), node,
                         [](const call_edge &e, std::uint32_t caller) { return e.caller < caller; });
    for (auto e = first; e != t_.added.end() && e->caller == node; ++e)
      f(static_cast<std::uint32_t>(g_.edges.size() + static_cast<std::size_t>(e - t_.added.begin())), *e);
  }

private:
  [[nodiscard]] bool inner(const call_edge &e) const {
    return t_.component[e.caller] == t_.component[e.callee];
  }

  // Whether the need of the component is reached from here without another call in it; by which call.
  bool leaves_with(std::uint32_t node, std::int64_t need, std::uint32_t &exit) const {
    if (t_.touched[node] == need)
      return true;
    each_call(node, [&](std::uint32_t call, const call_edge &e) {
      if (exit == no_call && !inner(e) && add_depths(depth_of(e), t_.needs[e.callee].need) == need)
        exit = call;
    });
    return exit != no_call;
  }

  // Links from `node` to the nearest of its component that `is_goal`, which is not among them.
  template <typename G>
  std::uint32_t go(std::uint32_t node, std::vector<chain_link> &chain, G &&is_goal) {
    if (is_goal(node))
      return node;
    const std::uint32_t start = node;
    std::unordered_map<std::uint32_t, std::uint32_t>
        by; // of each node that was seen: the call that led there
    std::vector<std::uint32_t> queue = {node};
    std::uint32_t goal = no_call;
    for (std::size_t at = 0; at < queue.size() && goal == no_call; ++at)
      each_call(queue[at], [&](std::uint32_t call, const call_edge &e) {
        if (goal != no_call || !inner(e) || e.callee == start || !by.try_emplace(e.callee, call).second)
          return;
        queue.push_back(e.callee);
        if (is_goal(e.callee))
          goal = e.callee;
      });
    if (goal == no_call)
      return start;
    const std::size_t first = chain.size();
    for (std::uint32_t n = goal; n != start; n = chain.back().node) {
      const call_edge &e = call_at(g_, t_, by.at(n));
      chain.push_back({e.caller, e.at, depth_of(e)});
    }
    std::reverse(chain.begin() + static_cast<std::ptrdiff_t>(first), chain.end());
    return goal;
  }

  static std::int64_t sum(const std::vector<chain_link> &way) noexcept {
    std::int64_t depth = 0;
    for (const chain_link &l : way)
      depth = add_depths(depth, l.depth);
    return depth;
  }

  // From the node to itself, the shortest way, where the need allows for that besides what follows.
  void show_turn(std::uint32_t node, std::int64_t rest, std::vector<chain_link> &chain) {
    std::vector<chain_link> turn;
    std::uint32_t last = no_call; // the call that closes the turn
    const auto closes = [&](std::uint32_t n) {
      each_call(n, [&](std::uint32_t call, const call_edge &e) {
        if (last == no_call && e.callee == node)
          last = call;
      });
      return last != no_call;
    };
    const std::uint32_t end = go(node, turn, closes);
    if (last == no_call)
      return;
    const call_edge &e = call_at(g_, t_, last);
    turn.push_back({end, e.at, depth_of(e)});
    if (add_depths(sum(turn), rest) <= t_.needs[node].need)
      chain.insert(chain.end(), turn.begin(), turn.end());
  }

  // The most that a member of the component of `node` needs without calls inside it.
  std::int64_t largest_exit(std::uint32_t node) {
    std::int64_t largest = 0;
    std::unordered_set<std::uint32_t> seen = {node};
    std::vector<std::uint32_t> queue = {node};
    for (std::size_t at = 0; at < queue.size(); ++at) {
      largest = std::max(largest, t_.touched[queue[at]]);
      each_call(queue[at], [&](std::uint32_t, const call_edge &e) {
        if (!inner(e))
          largest = std::max(largest, add_depths(depth_of(e), t_.needs[e.callee].need));
        else if (seen.insert(e.callee).second)
          queue.push_back(e.callee);
      });
    }
    return largest;
  }

  const call_graph &g_;
  const need_table &t_;
};

} // namespace

const call_edge &call_at(const call_graph &g, const need_table &t, std::uint32_t call) {
  return call < g.edges.size() ? g.edges[call] : t.added[call - g.edges.size()];
}

bool is_back(const call_graph &g, const need_table &t, std::uint32_t call) {
  return call < g.edges.size() ? t.back[call] : t.added_back[call - g.edges.size()];
}

std::vector<chain_link> worst_chain(const call_graph &g, const need_table &t, std::uint32_t node) {
  return walker(g, t).worst(node);
}

std::vector<chain_link> blocking_chain(const call_graph &g, const need_table &t, std::uint32_t node) {
  std::vector<chain_link> chain;
  if (t.needs[node].may_block)
    walker(g, t).follow(t.to_block, node, chain);
  return chain;
}

// A turn goes from the callee of the back edge along other calls of its component to the caller, by the longest way.
std::int64_t stub_need(const call_graph &g, const need_table &t, std::uint32_t call, std::int64_t turns) {
  const call_edge &back = call_at(g, t, call);
  const std::int64_t segment = t.needs[back.callee].segment;
  if (segment == no_need || turns <= 1)
    return segment;

  const walker w(g, t);
  std::unordered_map<std::uint32_t, std::uint32_t> local = {{back.callee, 0}};
  std::vector<std::uint32_t> nodes = {back.callee};
  digraph inner;
  std::vector<std::int64_t> depth; // of each edge of `inner`
  for (std::size_t at = 0; at < nodes.size(); ++at) {
    w.each_call(nodes[at], [&](std::uint32_t c, const call_edge &e) {
      if (t.component[e.callee] != t.component[back.callee] || is_back(g, t, c))
        return;
      const auto [place, is_new] = local.try_emplace(e.callee, static_cast<std::uint32_t>(nodes.size()));
      if (is_new)
        nodes.push_back(e.callee);
      inner.to.push_back(place->second);
      depth.push_back(depth_of(e));
    });
    inner.end_node();
  }

  // Callers before callees; cycles that are left have no depth, so their members are equally far.
  const component_list parts = strong_components(inner);
  std::vector<std::int64_t> far(parts.size(), no_need);
  far[parts.of[0]] = 0;
  for (std::uint32_t p = parts.size(); p-- > 0;)
    for (const std::uint32_t n : parts.in(p))
      for (std::uint32_t e = inner.first[n]; e < inner.first[n + 1]; ++e)
        if (std::int64_t &f = far[parts.of[inner.to[e]]]; far[p] != no_need)
          f = std::max(f, add_depths(far[p], depth[e]));
  const auto caller = local.find(back.caller);
  if (caller == local.end() || far[parts.of[caller->second]] == no_need)
    return segment;
  const std::int64_t turn = add_depths(far[parts.of[caller->second]], depth_of(back));
  if (turn > 0 && turns - 1 > largest_need / turn)
    return no_need;
  const std::int64_t sum = add_depths((turns - 1) * turn, segment);
  return sum >= largest_need ? no_need : sum;
}

} // namespace nth::stack
