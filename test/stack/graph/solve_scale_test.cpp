// Graphs of the size of a browser: time, and no recursion of the solver's own.
#include "graph/solve.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <ctime>
#include <random>

namespace nth::stack {
namespace {

constexpr std::uint32_t nodes = 300'000;
constexpr std::uint32_t edges = 3'000'000;
#if defined(NTH_ASAN) || defined(NTH_UBSAN)
constexpr double seconds_allowed = 60;
#else
constexpr double seconds_allowed = 10; // it takes 0.4, or 2 where all is one component
#endif

call_graph graph_with(std::uint32_t count) {
  call_graph g;
  g.nodes.resize(count);
  for (std::uint32_t n = 0; n < count; ++n) {
    g.nodes[n].name = g.nodes[n].symbol = "function_" + std::to_string(n);
    g.nodes[n].module = "a.out";
    g.nodes[n].entry = 16 * address{n};
  }
  return g;
}

need_table solved_in_time(const call_graph &g) {
  const std::clock_t begin = std::clock(); // of this process alone, however busy the machine is
  need_table t = solve(g, {});
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  std::printf("%zu nodes, %zu edges: %.3f s\n", g.nodes.size(), g.edges.size(), seconds);
  EXPECT_LT(seconds, seconds_allowed);
  return t;
}

// Most calls lead to later functions; of the rest each closes cycles.
call_graph layered(unsigned in_thousand_back) {
  std::mt19937 rng(7);
  call_graph g = graph_with(nodes);
  for (std::uint32_t i = 1; i < 200; ++i)
    g.assumptions.push_back("a " + std::to_string(i));
  g.edges.reserve(edges);
  for (std::uint32_t e = 0; e < edges; ++e) {
    const auto a = static_cast<std::uint32_t>(rng() % nodes);
    const std::uint32_t span = rng() % 4 == 0 ? nodes : 2000;
    auto b = static_cast<std::uint32_t>(std::min<std::uint64_t>(a + 1 + rng() % span, nodes - 1));
    call_edge edge{.caller = a, .callee = b, .depth = 8 + static_cast<std::int64_t>(rng() % 256), .at = e};
    if (rng() % 1000 < in_thousand_back)
      std::swap(edge.caller, edge.callee);
    edge.kind = rng() % 10 == 0 ? edge_kind::tail : edge_kind::direct;
    if (edge.kind == edge_kind::tail)
      edge.depth = 0;
    edge.cold = rng() % 5 == 0;
    edge.assumption = rng() % 50 == 0 ? static_cast<std::uint32_t>(rng() % g.assumptions.size()) : 0;
    g.edges.push_back(edge);
  }
  g.sort();
  return g;
}

TEST(solving_at_scale, without_recursion) {
  const call_graph g = layered(0);
  const need_table t = solved_in_time(g);
  std::size_t bounded = 0;
  for (const node_need &n : t.needs)
    bounded += n.segment != no_need ? 1 : 0;
  EXPECT_EQ(bounded, nodes);
}

TEST(solving_at_scale, one_component_of_nearly_all) {
  const call_graph g = layered(20);
  const need_table t = solved_in_time(g);
  std::size_t back = 0;
  for (std::size_t e = 0; e < g.edges.size(); ++e)
    back += t.back[e] ? 1 : 0;
  std::printf("%zu back edges\n", back);
  EXPECT_LT(back, edges / 10U) << "one in 50 is enough, but those are not easily found";
  EXPECT_FALSE(worst_chain(g, t, 0).empty());
}

TEST(solving_at_scale, a_chain_as_long_as_the_program) {
  call_graph g = graph_with(nodes);
  for (std::uint32_t n = 0; n + 1 < nodes; ++n)
    g.edges.push_back({.caller = n, .callee = n + 1, .depth = 16});
  g.sort();
  const need_table t = solved_in_time(g);
  EXPECT_EQ(t.needs[0].need, 16 * std::int64_t{nodes - 1} + 8);
  EXPECT_EQ(worst_chain(g, t, 0).size(), nodes);

  g.edges.push_back({.caller = nodes - 1, .callee = 0, .depth = 16});
  g.sort();
  const need_table cycle = solved_in_time(g);
  EXPECT_EQ(cycle.needs[0].need, no_need);
  EXPECT_EQ(cycle.needs[0].segment, 16 * std::int64_t{nodes - 1} + 8);
  EXPECT_LT(cycle.needs[0].reason.size(), 400U);
  std::size_t at = 0;
  while (!cycle.back[at])
    ++at;
  EXPECT_EQ(stub_need(g, cycle, static_cast<std::uint32_t>(at), 2), 32 * std::int64_t{nodes} - 8);
}

TEST(solving_at_scale, all_call_each_other) {
  constexpr std::uint32_t few = 1500;
  call_graph g = graph_with(few);
  for (std::uint32_t a = 0; a < few; ++a)
    for (std::uint32_t b = 0; b < few; ++b)
      g.edges.push_back({.caller = a, .callee = b, .depth = 16, .at = b});
  g.sort();
  const need_table t = solved_in_time(g);
  EXPECT_NE(t.needs[0].segment, no_need);
}

} // namespace
} // namespace nth::stack
