// Needs, back edges, reasons and chains of graphs small enough to be reckoned by hand.
#include "solve_graph.hpp"

#include <gtest/gtest.h>

namespace nth::stack::test {
namespace {

using what = annotation::what;

const std::string figure_1 = "__start 32 -> B@32; B 16 -> C@16 D@16; C 16; D 16 -> B@16 E@16; E 16 -> E@16";

TEST(solving, the_figure_of_the_paper) {
  const solved s(figure_1);
  EXPECT_EQ(s.of("__start").segment, 80);
  EXPECT_EQ(s.of("B").segment, 48);
  EXPECT_EQ(s.of("C").segment, 16);
  EXPECT_EQ(s.of("D").segment, 32);
  EXPECT_EQ(s.of("E").segment, 16);
  EXPECT_EQ(s.back(), "D->B E->E");

  std::map<std::string, std::uint32_t> back;
  for (std::uint32_t e = 0; e < s.g.edges.size(); ++e)
    if (s.t.back[e])
      back[s.g.nodes[s.g.edges[e].caller].name] = e;
  EXPECT_EQ(stub_need(s.g, s.t, back.at("D"), 1), 48) << "figure 1(d)";
  EXPECT_EQ(stub_need(s.g, s.t, back.at("E"), 1), 16) << "figure 1(d)";
  EXPECT_EQ(stub_need(s.g, s.t, back.at("E"), 3), 48) << "figure 1(e)";
  EXPECT_EQ(stub_need(s.g, s.t, back.at("D"), 2), 32 + 48) << "B and D once more";
  EXPECT_EQ(stub_need(s.g, s.t, back.at("E"), largest_need), no_need);

  for (const char *name : {"__start", "B", "D", "E"}) {
    EXPECT_EQ(s.of(name).need, no_need) << name;
    EXPECT_EQ(s.of(name).sure, certainty::unbounded) << name;
    EXPECT_TRUE(s.of(name).reason.starts_with("recursion: ")) << name;
  }
  EXPECT_EQ(s.of("E").reason, "recursion: E -> E");
  EXPECT_EQ(s.of("B").reason, "recursion: B -> D -> B");
  EXPECT_EQ(s.chain("E"), "E@16 E@16");
  EXPECT_EQ(s.chain("__start"), "__start@32 B@16 D@16 B@16");
  EXPECT_EQ(s.of("C").need, 16);
  EXPECT_EQ(s.of("C").sure, certainty::proved);
  EXPECT_TRUE(s.of("D").in_cycle);
  EXPECT_FALSE(s.of("__start").in_cycle);
}

TEST(solving, the_longest_path_counts_from_the_call) {
  const solved s("f 100 -> g@24 h@96; g 200; h 8 -> k@16; k 40");
  EXPECT_EQ(s.of("f").need, 224);
  EXPECT_EQ(s.chain("f"), "f@24 g@200");
  EXPECT_EQ(s.of("h").need, 56);
  EXPECT_EQ(s.chain("h"), "h@16 k@40");
  EXPECT_EQ(s.back(), "");
  const solved leaf("f 100 -> g@24; g 8");
  EXPECT_EQ(leaf.of("f").need, 100) << "what it touches is deeper than its call";
  EXPECT_EQ(leaf.chain("f"), "f@100");
}

TEST(solving, what_is_touched_below_the_frame_counts) {
  call_graph g = graph_of("f 16");
  g.nodes[0].touched = 144;
  EXPECT_EQ(solve(g, {}).needs[0].need, 144);
}

TEST(solving, a_cycle_of_jumps_takes_the_most_of_its_members) {
  const solved s("a 24 -> b@0 tail; b 64 -> c@0 tail d@64; c 16 -> a@0 tail; d 8; main 8 -> a@16");
  for (const char *name : {"a", "b", "c"}) {
    EXPECT_EQ(s.of(name).need, 72) << name;
    EXPECT_EQ(s.of(name).segment, 72) << name;
    EXPECT_FALSE(s.of(name).in_cycle) << name;
  }
  EXPECT_EQ(s.of("main").need, 88);
  EXPECT_EQ(s.chain("main"), "main@16 a@0 b@64 d@8");
  EXPECT_EQ(s.chain("c"), "c@0 a@0 b@64 d@8");
  EXPECT_EQ(s.back(), "");
}

TEST(solving, a_cycle_is_cut_at_a_call_and_not_at_a_jump) {
  EXPECT_EQ(solved("main 8 -> a@16; a 16 -> b@0 tail; b 16 -> a@24").back(), "b->a");
  EXPECT_EQ(solved("main 8 -> a@16; a 16 -> b@24; b 16 -> a@0 tail").back(), "a->b");
  const solved mixed("main 8 -> a@16; a 16 -> b@0 tail; b 16 -> a@0 tail a@32");
  EXPECT_EQ(mixed.back(), "b->a") << "the call";
  EXPECT_EQ(mixed.of("main").segment, 32);
  EXPECT_EQ(mixed.of("a").need, no_need);
}

TEST(solving, a_jump_that_grows_has_no_place_for_a_stub) {
  const solved s("main 8 -> a@16; a 16 -> a@24 tail");
  EXPECT_EQ(s.back(), "");
  EXPECT_EQ(s.of("a").segment, no_need);
  EXPECT_EQ(s.of("main").segment, no_need);
}

TEST(solving, cold_calls_are_cut_first) {
  EXPECT_EQ(solved("main 8 -> a@16; a 16 -> b@16; b 16 -> c@16; c 16 -> a@16").back(), "c->a");
  EXPECT_EQ(solved("main 8 -> a@16; a 16 -> b@16 cold; b 16 -> c@16; c 16 -> a@16").back(), "a->b");
  EXPECT_EQ(solved("main 8 -> a@16; a 16 -> b@16; b 16 -> c@16 cold; c 16 -> a@16").back(), "b->c");
}

TEST(solving, few_calls_are_cut) {
  // One helper that all call and that calls all: it alone need not be entered again.
  const solved s("main 8 -> a@16 b@16 c@16 d@16; a 8 -> h@16; b 8 -> h@16; c 8 -> h@16; d 8 -> h@16;"
                 "h 8 -> main@16");
  EXPECT_EQ(s.back(), "h->main");
}

TEST(solving, sets_take_nothing_and_are_cut_at_their_members) {
  const solved s(
      "main 16 -> S@16 indirect; S set -> f@0 if:1 g@0 if:1; f 40; g 24 -> S@24 indirect h@24; h 300");
  EXPECT_EQ(s.of("f").need, 40);
  EXPECT_EQ(s.back(), "S->g");
  EXPECT_EQ(s.of("S").segment, 40);
  EXPECT_EQ(s.of("g").segment, 324);
  EXPECT_EQ(s.of("main").segment, 56);
  EXPECT_EQ(s.of("main").need, no_need);
  EXPECT_EQ(s.of("main").reason, "recursion: g -> S -> g");
  const solved big("S set -> f@0; f 16");
  EXPECT_EQ(big.of("S").need, 16);
  EXPECT_EQ(count_calls(big.g, big.t, "").procedures, 1U);
}

TEST(solving, reasons_and_chains_lead_to_the_nearest_cause) {
  const solved s("main 8 -> a@16 x@16; a 8 -> b@24; b 8 -> c@32; c alloca; x 8 -> y@16; y 8 open; z 8");
  EXPECT_EQ(s.of("c").reason, "frame of c: alloca or an array of variable length at 0x0");
  EXPECT_EQ(s.of("a").reason, s.of("c").reason);
  EXPECT_EQ(s.of("main").reason, s.of("y").reason) << "nearer";
  EXPECT_EQ(s.of("y").reason.find("call at 0x"), 0U);
  EXPECT_NE(s.of("y").reason.find("of y: who knows"), std::string::npos);
  EXPECT_EQ(s.chain("a"), "a@24 b@32 c@0");
  EXPECT_EQ(s.chain("main"), "main@16 x@16 y@8");
  EXPECT_EQ(s.of("z").reason, "");
  EXPECT_EQ(s.of("main").segment, no_need) << "no stub bounds it";
}

TEST(solving, long_cycles_and_names_are_cut_short_in_words) {
  std::ostringstream text; // one cycle of 40, one name of it long
  const auto name = [](int i) {
    return fmt::format("f{}{}", i % 40, std::string(i % 40 == 3 ? 200 : 0, 'x'));
  };
  for (int i = 0; i < 40; ++i)
    text << name(i) << " 8 -> " << name(i + 1) << "@16;";
  const solved s(text.str());
  EXPECT_LT(s.of("f0").reason.size(), 300U);
  EXPECT_NE(s.of("f0").reason.find("more)"), std::string::npos);
  EXPECT_NE(s.of("f0").reason.find("xxx..."), std::string::npos);
  EXPECT_EQ(worst_chain(s.g, s.t, 0).size(), 41U) << "the chain has all of them";
}

TEST(solving, sums_that_no_memory_holds_are_no_needs) {
  const std::string huge = std::to_string(largest_need - 10);
  const solved s("main 8 -> a@16; a 8 -> b@" + huge + "; b 100");
  EXPECT_EQ(s.of("a").need, no_need);
  EXPECT_EQ(s.of("main").need, no_need);
  EXPECT_EQ(s.of("main").reason, s.of("a").reason);
  EXPECT_NE(s.of("a").reason.find("needs more than"), std::string::npos);
  EXPECT_EQ(s.of("b").need, 100);
  call_graph g = graph_of("a 8 -> b@16; b 8");
  g.nodes[1].frame = std::numeric_limits<std::int64_t>::max();
  g.edges[0].depth = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(solve(g, {}).needs[0].need, no_need);
  g.nodes[1].frame = 8;
  g.edges[0].depth = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(solve(g, {}).needs[0].need, 8) << "a callee is never above its caller";
}

TEST(solving, assumptions_count_wherever_they_are_reached) {
  const solved s("main 8 -> f@16; f 500 -> g@8 if:2 h@8; g 8; h 8 -> k@16 if:1; k 8; other 8 -> k@16");
  EXPECT_EQ(s.of("main").sure, certainty::assumed);
  EXPECT_EQ(s.of("main").assumptions, (std::vector<std::uint32_t>{1, 2})) << "not on the longest path";
  EXPECT_EQ(s.of("h").assumptions, std::vector<std::uint32_t>{1});
  EXPECT_EQ(s.of("other").sure, certainty::proved);
  EXPECT_TRUE(s.of("k").assumptions.empty());

  std::string many = "f 8 ->";
  for (int i = 40; i > 0; --i)
    many += " g@16 if:" + std::to_string(i);
  const solved m(many);
  EXPECT_EQ(m.of("f").assumptions.size(), max_assumptions);
  EXPECT_EQ(m.of("f").assumptions.front(), 1U);
  EXPECT_TRUE(m.of("f").more_assumptions);
}

TEST(solving, blocking_calls_are_known_by_name) {
  const solved s("main 8 -> f@16 g@16; f 8 -> nth_block@16; g 8; nth_block 8; h 8 open; i 8 -> S@8 indirect;"
                 "S set -> f@0 g@0; j jumps");
  EXPECT_TRUE(s.of("main").may_block);
  EXPECT_TRUE(s.of("i").may_block);
  EXPECT_FALSE(s.of("g").may_block);
  EXPECT_TRUE(s.of("h").may_block) << "its callee may be any";
  EXPECT_TRUE(s.of("j").may_block) << "what it calls was not seen";
  EXPECT_EQ(s.blocking("main"), "main@16 f@16 nth_block@8");
  EXPECT_EQ(s.blocking("g"), "");
  EXPECT_FALSE(solved("h 8 open").of("h").may_block) << "a program without nth";
  for (const char *name :
       {"nth_yield", "nth_try_block", "nth_sync", "nth_to_lrq", "nth_to_lrq_end", "nth_batch_to_lrq",
        "nth_pick_yield", "nth_batch_to_lrq_end", "nth_parallel_for", "nth_make_way", "nth_block"})
    EXPECT_TRUE(solved(std::string(name) + " 8").of(name).may_block) << name;
  for (const char *name : {"nth_create", "nth_self", "nth_blocks", "nth_unblock"})
    EXPECT_FALSE(solved(std::string(name) + " 8").of(name).may_block) << name;
}

TEST(solving, counts_as_table_1_of_the_paper) {
  const solved s(figure_1 + "; f 8 open:indirect -> C@16 if:1");
  const call_counts c = count_calls(s.g, s.t, "");
  EXPECT_EQ(c.procedures, 6U);
  EXPECT_EQ(c.call_sites, 8U);
  EXPECT_EQ(c.back_edges, 2U);
  EXPECT_EQ(c.indirect_calls, 1U);
  EXPECT_EQ(c.forward_edges, 5U);
  EXPECT_EQ(c.proved, 1U);
  EXPECT_EQ(c.assumed, 0U);
  EXPECT_EQ(c.unbounded, 5U);
  EXPECT_EQ(count_calls(s.g, s.t, "libc.so.6").procedures, 0U);
  EXPECT_EQ(count_calls(s.g, s.t, "a.out").procedures, 6U);
}

TEST(solving, nothing_is_a_graph_too) {
  const solved s("");
  EXPECT_TRUE(s.t.needs.empty());
  EXPECT_EQ(count_calls(s.g, s.t, "").procedures, 0U);
}

} // namespace
} // namespace nth::stack::test
