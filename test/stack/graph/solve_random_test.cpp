// Random small graphs against solvers that are slow and simple: values are raised until nothing changes, and what still
// changes after as many rounds as there are states has no bound.
#include "solve_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace nth::stack::test {
namespace {

constexpr std::int64_t minus_infinity = -(std::int64_t{1} << 50);

struct random_graph {
  call_graph g;
  annotations notes;

  explicit random_graph(std::uint32_t seed, bool with_notes) {
    std::mt19937 rng(seed);
    const auto up_to = [&](int n) { return static_cast<int>(rng() % static_cast<unsigned>(n + 1)); };
    const int nodes = 1 + up_to(5);
    const int edges = up_to(nodes * 2);
    const int trouble = up_to(9);
    g.assumptions = {"", "one", "two", "three"};
    for (int n = 0; n < nodes; ++n) {
      call_node node;
      node.name = node.symbol = std::string(1, static_cast<char>('a' + n));
      node.module = "a.out";
      node.frame = node.touched = 8 * (1 + up_to(5));
      if (trouble == 0 && up_to(5) == 0)
        node.bound = frame_bound::unbounded;
      if (up_to(8) == 0)
        node.is_set = true;
      if (trouble == 1 && up_to(5) == 0)
        g.open.push_back({.caller = static_cast<std::uint32_t>(n), .at = 1, .why = "unknown"});
      if (up_to(8) == 0)
        node.symbol = "nth_block";
      g.nodes.push_back(node);
    }
    const int jumps = up_to(4); // some graphs are full of them
    for (int e = 0; e < edges; ++e) {
      call_edge edge;
      edge.caller = static_cast<std::uint32_t>(up_to(nodes - 1));
      edge.callee = static_cast<std::uint32_t>(up_to(nodes - 1));
      edge.at = static_cast<address>(e + 1);
      edge.depth = 8 * (1 + up_to(5));
      edge.cold = up_to(2) == 0;
      if (g.nodes[edge.caller].is_set) {
        edge.depth = 0;
        edge.kind = edge_kind::indirect;
      } else if (up_to(5) < jumps) {
        edge.kind = edge_kind::tail;
        edge.depth = up_to(20) == 0 ? 8 : 0;
      }
      if (up_to(4) == 0)
        edge.assumption = static_cast<std::uint32_t>(1 + up_to(2));
      g.edges.push_back(edge);
    }
    g.sort();
    if (with_notes)
      for (int n = 0; n < nodes; ++n)
        if (up_to(1) == 0 && !g.nodes[static_cast<std::size_t>(n)].is_set)
          notes.list.push_back(
              note(annotation::what::depth, g.nodes[static_cast<std::size_t>(n)].name, 1 + up_to(2)));
  }
};

// Longest walk from each node in which a node with times[n] > 0 occurs at most so often. no_need: none is longest.
class slow_solver {
public:
  slow_solver(const call_graph &g, std::vector<std::int64_t> times, const std::vector<bool> &without)
      : g_(g), times_(std::move(times)), without_(without) {
    for (const std::int64_t t : times_)
      states_ *= static_cast<std::size_t>(t + 1);
    value_.assign(states_ * g.nodes.size(), minus_infinity);
    bool changes = true;
    for (std::size_t round = 0; changes && round <= value_.size() + 1; ++round)
      changes = raise();
    // What still grows, or reaches what grows, has no bound: it is marked, and the mark spreads.
    while (changes) {
      std::vector<std::int64_t> before = value_;
      raise();
      changes = false;
      for (std::size_t i = 0; i < value_.size(); ++i)
        if (value_[i] != before[i]) {
          value_[i] = unbounded;
          changes = true;
        }
    }
  }

  std::int64_t need(std::uint32_t node) {
    const std::size_t all = states_ - 1;
    const std::size_t state = times_[node] > 0 ? take(all, node) : all;
    const std::int64_t v = value_[state * g_.nodes.size() + node];
    return v >= unbounded ? no_need : v;
  }

private:
  static constexpr std::int64_t unbounded = std::int64_t{1} << 40;

  [[nodiscard]] std::size_t weight(std::uint32_t node) const {
    std::size_t w = 1;
    for (std::uint32_t n = 0; n < node; ++n)
      w *= static_cast<std::size_t>(times_[n] + 1);
    return w;
  }
  [[nodiscard]] std::int64_t left(std::size_t state, std::uint32_t node) const {
    return static_cast<std::int64_t>(state / weight(node)) % (times_[node] + 1);
  }
  [[nodiscard]] std::size_t take(std::size_t state, std::uint32_t node) const { return state - weight(node); }

  bool raise() {
    bool changes = false;
    for (std::size_t state = 0; state < states_; ++state)
      for (std::uint32_t n = 0; n < g_.nodes.size(); ++n) {
        const call_node &node = g_.nodes[n];
        std::int64_t v = node.is_set ? 0 : node.touched;
        if (!node.is_set && node.bound == frame_bound::unbounded)
          v = unbounded;
        for (const open_call &o : g_.open)
          if (o.caller == n)
            v = unbounded;
        for (std::uint32_t e = g_.first_edge[n]; e < g_.first_edge[n + 1]; ++e) {
          const std::uint32_t callee = g_.edges[e].callee;
          if (without_[e] || (times_[callee] > 0 && left(state, callee) == 0))
            continue;
          const std::size_t then = times_[callee] > 0 ? take(state, callee) : state;
          v = std::max(v, g_.edges[e].depth + value_[then * g_.nodes.size() + callee]);
        }
        v = std::min(v, unbounded);
        std::int64_t &own = value_[state * g_.nodes.size() + n];
        changes = changes || v > own;
        own = std::max(v, own);
      }
    return changes;
  }

  const call_graph &g_;
  std::vector<std::int64_t> times_;
  const std::vector<bool> &without_;
  std::size_t states_ = 1;
  std::vector<std::int64_t> value_;
};

std::vector<std::vector<bool>> reachability(const call_graph &g) {
  const std::size_t n = g.nodes.size();
  std::vector<std::vector<bool>> reach(n, std::vector<bool>(n));
  for (std::size_t i = 0; i < n; ++i)
    reach[i][i] = true;
  for (std::size_t round = 0; round < n; ++round)
    for (const call_edge &e : g.edges)
      for (std::size_t i = 0; i < n; ++i)
        if (reach[i][e.caller])
          reach[i][e.callee] = true;
  return reach;
}

std::string shown(const call_graph &g) {
  std::ostringstream out;
  for (const call_node &n : g.nodes)
    out << n.name << ' ' << n.touched << (n.is_set ? " set" : "")
        << (n.bound == frame_bound::unbounded ? " alloca" : "") << "; ";
  for (const call_edge &e : g.edges)
    out << g.nodes[e.caller].name << "->" << g.nodes[e.callee].name << '@' << e.depth
        << (e.kind == edge_kind::tail ? " tail" : "") << (e.cold ? " cold" : "") << "; ";
  return out.str();
}

bool can_be_cut(const call_graph &g, const call_edge &e) {
  return e.kind != edge_kind::tail && !g.nodes[e.callee].is_set;
}

void check_chain(const call_graph &g, const need_table &t, std::uint32_t n) {
  const std::vector<chain_link> chain = worst_chain(g, t, n);
  ASSERT_FALSE(chain.empty());
  EXPECT_EQ(chain.front().node, n);
  std::int64_t sum = 0;
  bool recursive = t.needs[chain.back().node].in_cycle;
  for (std::size_t i = 0; i + 1 < chain.size(); ++i) {
    sum += chain[i].depth;
    recursive = recursive || t.needs[chain[i].node].in_cycle;
    bool found = false;
    for (const call_edge &e : g.calls_of(chain[i].node))
      found = found || (e.callee == chain[i + 1].node && e.at == chain[i].at && e.depth == chain[i].depth);
    EXPECT_TRUE(found) << "no such call";
  }
  const std::uint32_t last = chain.back().node;
  if (t.needs[n].need != no_need) {
    if (!recursive)
      EXPECT_EQ(sum + chain.back().depth, t.needs[n].need);
    else
      EXPECT_LE(sum + chain.back().depth, t.needs[n].need);
    EXPECT_EQ(t.needs[n].reason, "");
    return;
  }
  EXPECT_EQ(t.needs[n].reason, t.needs[last].reason);
  if (t.needs[n].reason.starts_with("recursion: ")) {
    std::size_t times = 0;
    for (const chain_link &l : chain)
      times += l.node == last ? 1 : 0;
    EXPECT_EQ(times, 2U);
  } else {
    EXPECT_NE(t.needs[n].reason, "");
    EXPECT_NE(t.needs[n].reason.find(" " + g.nodes[last].name + ":"), std::string::npos) << t.needs[n].reason;
  }
}

void check_back_edges(const call_graph &g, const need_table &t) {
  const auto reach = reachability(g);
  for (std::uint32_t e = 0; e < g.edges.size(); ++e)
    if (t.back[e]) {
      EXPECT_TRUE(reach[g.edges[e].callee][g.edges[e].caller]) << "no cycle goes here";
      EXPECT_TRUE(can_be_cut(g, g.edges[e]));
      EXPECT_TRUE(t.needs[g.edges[e].caller].in_cycle);
    }
  for (std::uint32_t n = 0; n < g.nodes.size(); ++n) {
    bool grows = false;
    for (const call_edge &e : g.edges)
      grows = grows || (e.depth > 0 && reach[n][e.caller] && reach[e.callee][n]);
    EXPECT_EQ(t.needs[n].in_cycle, grows);
  }
}

TEST(solving_at_random, agrees_with_the_slow_solver) {
  std::size_t bounded = 0;
  std::size_t cut = 0;
  for (std::uint32_t seed = 0; seed < 6000; ++seed) {
    const random_graph r(seed, false);
    SCOPED_TRACE(shown(r.g));
    const need_table t = solve(r.g, {});
    const std::vector<std::int64_t> never(r.g.nodes.size(), 0);
    const std::vector<bool> none(r.g.edges.size());
    slow_solver needs(r.g, never, none);
    slow_solver segments(r.g, never, t.back);
    const auto reach = reachability(r.g);
    for (std::uint32_t n = 0; n < r.g.nodes.size(); ++n) {
      EXPECT_EQ(t.needs[n].need, needs.need(n)) << r.g.nodes[n].name;
      EXPECT_EQ(t.needs[n].segment, segments.need(n)) << r.g.nodes[n].name;
      check_chain(r.g, t, n);
      bounded += t.needs[n].need != no_need ? 1 : 0;

      std::set<std::uint32_t> assumed;
      bool may_block = false;
      bool program_blocks = false;
      for (const call_edge &e : r.g.edges)
        if (reach[n][e.caller] && e.assumption != 0)
          assumed.insert(e.assumption);
      for (std::uint32_t m = 0; m < r.g.nodes.size(); ++m)
        if (r.g.nodes[m].symbol == "nth_block" && !r.g.nodes[m].is_set) {
          program_blocks = true;
          may_block = may_block || reach[n][m];
        }
      for (const open_call &o : r.g.open)
        may_block = may_block || (program_blocks && reach[n][o.caller]);
      EXPECT_EQ(t.needs[n].may_block, may_block) << r.g.nodes[n].name;
      EXPECT_EQ(blocking_chain(r.g, t, n).empty(), !may_block);
      if (t.needs[n].need == no_need) {
        EXPECT_EQ(t.needs[n].sure, certainty::unbounded);
      } else {
        EXPECT_EQ(t.needs[n].sure, assumed.empty() ? certainty::proved : certainty::assumed);
        EXPECT_EQ(t.needs[n].assumptions, std::vector<std::uint32_t>(assumed.begin(), assumed.end()));
      }
    }
    check_back_edges(r.g, t);
    // Where a segment has no bound, something is reached to which cutting all that can be cut would not give one.
    std::vector<bool> all(r.g.edges.size());
    for (std::uint32_t e = 0; e < r.g.edges.size(); ++e) {
      all[e] = can_be_cut(r.g, r.g.edges[e]) && reach[r.g.edges[e].callee][r.g.edges[e].caller];
      cut += t.back[e] ? 1 : 0;
    }
    slow_solver shortest(r.g, never, all);
    const bool whole =
        r.g.open.empty() && std::all_of(r.g.nodes.begin(), r.g.nodes.end(),
                                        [](const call_node &n) { return n.bound != frame_bound::unbounded; });
    for (std::uint32_t n = 0; whole && n < r.g.nodes.size(); ++n) {
      bool hopeless = false; // what it may reach
      for (std::uint32_t m = 0; m < r.g.nodes.size(); ++m)
        hopeless = hopeless || (reach[n][m] && shortest.need(m) == no_need);
      EXPECT_TRUE(hopeless || t.needs[n].segment != no_need);
    }
    if (HasFailure())
      return;
  }
  EXPECT_GT(bounded, 5000U) << "the graphs must not all be hopeless";
  EXPECT_GT(cut, 3000U);
}

TEST(solving_at_random, recursion_is_bounded_by_its_annotations) {
  std::size_t recursive = 0;
  std::size_t exact = 0;
  for (std::uint32_t seed = 0; seed < 6000; ++seed) {
    const random_graph r(seed, true);
    SCOPED_TRACE(shown(r.g));
    const need_table t = solve(r.g, r.notes);
    std::vector<std::int64_t> times(r.g.nodes.size(), 0);
    for (const annotation &a : r.notes.list)
      times[node_of(r.g, a.function)] = a.bytes;
    const std::vector<bool> none(r.g.edges.size());
    slow_solver needs(r.g, times, none);
    const auto reach = reachability(r.g);
    for (std::uint32_t n = 0; n < r.g.nodes.size(); ++n) {
      SCOPED_TRACE(r.g.nodes[n].name);
      const std::int64_t least = needs.need(n);
      const std::int64_t found = t.needs[n].need;
      check_chain(r.g, t, n);
      ASSERT_EQ(found == no_need, least == no_need);
      if (found == no_need)
        continue;
      ASSERT_GE(found, least);
      // With one annotated function in reach of a recursion the formula is the longest walk.
      std::size_t annotated = 0;
      bool cycle = false;
      for (std::uint32_t m = 0; m < r.g.nodes.size(); ++m)
        if (reach[n][m]) {
          annotated += times[m] > 0 && t.needs[m].in_cycle ? 1 : 0;
          cycle = cycle || t.needs[m].in_cycle;
        }
      recursive += cycle ? 1 : 0;
      if (annotated <= 1) {
        exact += cycle ? 1 : 0;
        ASSERT_EQ(found, least);
      }
    }
  }
  EXPECT_GT(recursive, 2000U);
  EXPECT_GT(exact, 1000U);
}

// A walk may use the back edge turns - 1 times, and no other.
TEST(solving_at_random, stubs_are_large_enough_for_their_turns) {
  std::size_t checked = 0;
  for (std::uint32_t seed = 0; seed < 3000; ++seed) {
    const random_graph r(seed, false);
    SCOPED_TRACE(shown(r.g));
    const need_table t = solve(r.g, {});
    for (std::uint32_t e = 0; e < r.g.edges.size(); ++e) {
      if (!t.back[e] || t.needs[r.g.edges[e].callee].segment == no_need)
        continue;
      const std::int64_t segment = t.needs[r.g.edges[e].callee].segment;
      // The edge leads to a copy of its callee's side: one more node that occurs at most turns - 1 times.
      call_graph g = r.g;
      g.nodes.emplace_back().is_set = true;
      const auto turn = static_cast<std::uint32_t>(g.nodes.size() - 1);
      std::vector<call_edge> kept;
      for (std::uint32_t i = 0; i < g.edges.size(); ++i)
        if (!t.back[i])
          kept.push_back(g.edges[i]);
      call_edge to = g.edges[e];
      to.callee = turn;
      call_edge from = to;
      from.caller = turn;
      from.callee = g.edges[e].callee;
      from.depth = 0;
      kept.push_back(to);
      kept.push_back(from);
      g.edges = kept;
      g.sort();
      const std::vector<bool> none(g.edges.size());
      EXPECT_EQ(stub_need(r.g, t, e, 1), segment);
      for (const std::int64_t turns : {2, 4}) {
        std::vector<std::int64_t> times(g.nodes.size(), 0);
        times[turn] = turns - 1;
        ASSERT_EQ(stub_need(r.g, t, e, turns), slow_solver(g, times, none).need(r.g.edges[e].callee));
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 1000U);
}

} // namespace
} // namespace nth::stack::test
