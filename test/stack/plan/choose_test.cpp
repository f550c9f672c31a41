// Which calls get stubs, on graphs small enough to be reckoned by hand, and on random ones against a walk that
// keeps to the rules of the run-time.
#include "../graph/solve_graph.hpp"
#include "nth/growth.h"
#include "plan/choose.hpp"
#include "plan/turns.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace nth::stack::test {
namespace {

constexpr std::int64_t charge = NTH_STUB_STACK + 8;

struct choice {
  call_graph g;
  patchable_places possible;
  chosen_stubs chosen;

  // Everything can be changed, but for calls of `fixed`; pointers lead to those of `taken`.
  choice(const std::string &text, std::int64_t segment, const std::string &taken = "",
         const std::string &fixed = "", const annotations &notes = {})
      : g(graph_of(text)) {
    possible.calls.assign(g.edges.size(), true);
    possible.always.assign(g.edges.size(), false);
    possible.entries.assign(g.nodes.size(), false);
    std::istringstream names(taken);
    for (std::string name; names >> name;) {
      g.nodes[node_of(g, name)].address_taken = true;
      possible.entries[node_of(g, name)] = true;
    }
    for (std::size_t e = 0; e < g.edges.size(); ++e)
      if (g.nodes[g.edges[e].callee].name == fixed || g.nodes[g.edges[e].caller].is_set)
        possible.calls[e] = false;
    chosen = choose_stubs(g, notes, possible, segment);
  }

  [[nodiscard]] std::int64_t need(const std::string &name) const {
    return chosen.needs.needs[node_of(g, name)].need;
  }
  [[nodiscard]] std::string cuts() const {
    std::string text;
    for (std::size_t e = 0; e < g.edges.size(); ++e)
      if (chosen.places.calls[e])
        text += (text.empty() ? "" : " ") + g.nodes[g.edges[e].caller].name + "->" +
                g.nodes[g.edges[e].callee].name;
    return text;
  }
  [[nodiscard]] bool entry(const std::string &name) const { return chosen.places.entries[node_of(g, name)]; }
};

TEST(choosing, back_edges_get_stubs) {
  const choice c("start 32 -> B@32; B 16 -> C@16 D@16; C 16; D 16 -> B@16 E@16; E 16 -> E@16", 4096);
  EXPECT_EQ(c.cuts(), "D->B E->E");
  EXPECT_EQ(c.need("E"), 16 + charge) << "the stub of E -> E";
  EXPECT_EQ(c.need("D"), 16 + 16 + charge);
  EXPECT_EQ(c.need("B"), 48 + charge);
  EXPECT_EQ(c.need("start"), 80 + charge);
}

TEST(choosing, rare_large_callees_are_cut_off) {
  const choice c("start 40 -> work@40 report@40; work 500; report 12000", 1024);
  EXPECT_EQ(c.cuts(), "start->report");
  EXPECT_EQ(c.need("start"), 40 + 500);
  EXPECT_EQ(c.need("report"), 12000) << "its own frame cannot be cut";
  EXPECT_EQ(choice("start 40 -> work@40 report@40; work 500; report 12000", 16384).cuts(), "");
}

TEST(choosing, no_stub_where_it_would_take_more_than_the_callee) {
  const choice c("start 1000 -> leaf@1000; leaf 100", 1024);
  EXPECT_EQ(c.cuts(), "");
  EXPECT_EQ(c.need("start"), 1100);
}

TEST(choosing, what_has_no_bound_is_called_through_a_stub) {
  const choice c("start 40 -> any@40; any 100 alloca", 1024);
  EXPECT_EQ(c.cuts(), "start->any");
  EXPECT_EQ(c.need("start"), 40 + charge);
  EXPECT_EQ(c.need("any"), no_need);
  const choice f("start 40 -> any@40; any 100 alloca", 1024, "", "any");
  EXPECT_EQ(f.need("start"), no_need) << "a call that can't be changed";
}

TEST(choosing, pointers_lead_to_entries) {
  const choice c("f 40 -> S@40 indirect; S set -> large@0 tail small@0 tail; large 600 -> f@600; small 100",
                 4096, "large small");
  EXPECT_TRUE(c.entry("large"));
  EXPECT_FALSE(c.entry("small")) << "it needs no more than a stub";
  EXPECT_EQ(c.need("f"), 40 + charge);
  EXPECT_EQ(c.need("large"), 640 + charge) << "f is called, and calls large through its stub";
  EXPECT_EQ(c.cuts(), "");
}

// `low` and `high` would go through stubs, whose charge makes `middle` need more than one; without them it does not.
TEST(choosing, small_entries_are_left_one_after_the_other) {
  const choice c(
      "start 8 -> high@8 indirect; high 24 -> middle@24 indirect; middle 24 -> low@24 indirect; low 24", 4096,
      "high middle low");
  EXPECT_FALSE(c.entry("low"));
  EXPECT_FALSE(c.entry("middle"));
  EXPECT_FALSE(c.entry("high"));
  EXPECT_EQ(c.need("start"), 8 + 24 + 24 + 24);
}

TEST(choosing, stubs_of_calls_that_have_become_small_are_left) {
  // Round one cuts f -> g, for g is charged the stub of h; h turns out to need less than one.
  const choice c("f 900 -> g@900; g 24 -> h@24 indirect; h 40", 1024, "h");
  EXPECT_EQ(c.cuts(), "");
  EXPECT_EQ(c.need("f"), 900 + 24 + 40);
}

TEST(choosing, aims_at_a_fourth_of_a_segment) {
  EXPECT_EQ(need_aimed_at(512), 512);
  EXPECT_EQ(need_aimed_at(1024), 1024);
  EXPECT_EQ(need_aimed_at(8192), 2048);
  EXPECT_EQ(bytes_at_first(1024), 1024 - 192);
  EXPECT_EQ(bytes_taken(1024), 4096 - 192);
  EXPECT_EQ(bytes_taken(8192), 8192 - 192);
}

TEST(choosing, a_direct_call_of_an_entry_with_a_stub_has_room_for_both) {
  const choice c("f 16 -> g@16; g 100 -> h@100; h 300; start 8 -> g@8 indirect", 4096, "g");
  EXPECT_TRUE(c.entry("g"));
  EXPECT_EQ(c.need("f"), 16 + 400);
  EXPECT_EQ(c.need("start"), 8 + charge);
}

TEST(choosing, a_call_with_several_callees_is_cut_whole) {
  choice c("f 16 -> g@16 h@16; g 3000; h 40", 1024);
  EXPECT_EQ(c.cuts(), "f->g");
  call_graph g = graph_of("f 16 -> g@16 h@16; g 3000; h 40");
  g.edges[1].at = g.edges[0].at;
  patchable_places all;
  all.calls = {true, true};
  all.always = {false, false};
  all.entries = {false, false, false};
  const chosen_stubs one = choose_stubs(g, {}, all, 1024);
  EXPECT_TRUE(one.places.calls[0] && one.places.calls[1]);
}

TEST(choosing, with_a_profile_the_rarest_call_that_helps_is_cut) {
  const std::string text =
      "start 40 -> hot@40; hot 400 -> often@400 seldom@400; often 300; seldom 100 -> report@100; report 2000";
  EXPECT_EQ(choice(text, 1024).cuts(), "seldom->report") << "beyond which it is too large";
  call_graph g = graph_of(text);
  patchable_places all;
  all.calls.assign(g.edges.size(), true);
  all.always.assign(g.edges.size(), false);
  all.entries.assign(g.nodes.size(), false);
  const auto cut_with = [&](std::map<std::string, double> weight_of_callee) {
    std::vector<double> weights;
    for (const call_edge &e : g.edges)
      weights.push_back(weight_of_callee[g.nodes[e.callee].name]);
    const chosen_stubs c = choose_stubs(g, {}, all, 1024, weights);
    std::string text_of_cuts;
    for (std::size_t e = 0; e < g.edges.size(); ++e)
      if (c.places.calls[e])
        text_of_cuts += g.nodes[g.edges[e].callee].name + " ";
    EXPECT_LE(c.needs.needs[node_of(g, "start")].need, 1024);
    return text_of_cuts;
  };
  EXPECT_EQ(cut_with({{"hot", 1}, {"often", 1000}, {"seldom", 100}, {"report", 0}}), "report ");
  // The call of report is cut where report's own callers need too much: nothing above it helps them.
  EXPECT_EQ(cut_with({{"hot", 1}, {"often", 1000}, {"seldom", 2}, {"report", 50}}), "report ");
  g = graph_of("start 40 -> a@40; a 600 -> b@600; b 600 -> c@600; c 100");
  all.calls.assign(3, true);
  all.always.assign(3, false);
  all.entries.assign(4, false);
  EXPECT_EQ(cut_with({{"a", 1}, {"b", 500}, {"c", 500}}), "b ") << "c needs less than a stub";
  g = graph_of("start 40 -> a@40; a 300 -> b@300; b 300 -> c@300; c 300 -> d@300; d 400");
  all.calls.assign(4, true);
  all.always.assign(4, false);
  all.entries.assign(5, false);
  EXPECT_EQ(cut_with({{"a", 9}, {"b", 70}, {"c", 1}, {"d", 60}}), "c ");
  EXPECT_EQ(cut_with({{"a", 9}, {"b", 70}, {"c", 80}, {"d", 60}}), "b d ") << "of a, b and c together";
}

TEST(choosing, turns_of_a_cycle) {
  const choice c("start 32 -> B@32; B 16 -> C@16 D@24; C 16; D 16 -> B@16 E@16; E 16 -> E@8", 4096);
  const turn_lengths turns(c.g, c.chosen);
  std::map<std::string, std::int64_t> length;
  for (std::uint32_t e = 0; e < c.g.edges.size(); ++e)
    if (c.chosen.back[e])
      length[c.g.nodes[c.g.edges[e].caller].name] = turns.of(e);
  EXPECT_EQ(length.size(), 2U);
  EXPECT_EQ(length["D"], 24 + 16) << "from B to its call of D, and on to the call of B";
  EXPECT_EQ(length["E"], 8);
}

// Random programs: calls forward and back, pointers, frames without a bound. A walk enters functions at random. On a stub
// it continues as if on a fresh segment of the callee's need; at each function what is used of the segment never
// exceeds what it was made for, and a stub always has its room.
class walk {
public:
  walk(const call_graph &g, const chosen_stubs &c, std::mt19937 &random) : g_(g), c_(c), random_(random) {}

  void enter(std::uint32_t n, std::int64_t room, int left) {
    const node_need &need = c_.needs.needs[n];
    if (need.need == no_need)
      return;
    ASSERT_LE(c_.needs.touched[n] == no_need ? 0 : g_.nodes[n].touched, room) << g_.nodes[n].name;
    const auto calls = g_.calls_of(n);
    if (calls.empty() || left == 0)
      return;
    for (int i = 0; i < 3; ++i) {
      const std::size_t e = g_.first_edge[n] + random_() % calls.size();
      const call_edge &call = g_.edges[e];
      const bool by_pointer = call.kind == edge_kind::indirect || g_.nodes[n].is_set;
      const bool stub = c_.places.calls[e] || (by_pointer && c_.places.entries[call.callee]);
      if (stub) {
        ASSERT_LE(call.depth + charge, room) << g_.nodes[n].name;
        enter(call.callee, c_.needs.needs[call.callee].need, left - 1);
      } else {
        enter(call.callee, room - call.depth, left - 1);
      }
    }
  }

private:
  const call_graph &g_;
  const chosen_stubs &c_;
  std::mt19937 &random_;
};

std::string random_program(std::mt19937 &random) {
  const auto below = [&random](unsigned n) { return static_cast<unsigned>(random() % n); };
  const unsigned functions = 4 + below(20);
  std::string text = fmt::format("S set -> f{}@0 tail f{}@0 tail", below(functions), below(functions));
  for (unsigned f = 0; f < functions; ++f) {
    const unsigned frame = 16 * (1 + below(40));
    text += fmt::format("; f{} {}{} ->", f, frame, below(12) == 0 ? " alloca" : "");
    for (unsigned i = below(5); i > 0; --i)
      text += below(6) == 0 ? fmt::format(" S@{} indirect", frame)
                            : fmt::format(" f{}@{}", below(functions), frame);
  }
  return text;
}

TEST(choosing, random_programs_stay_in_their_segments) {
  for (unsigned seed = 0; seed < 400; ++seed) {
    std::mt19937 random(seed);
    const std::string text = random_program(random);
    choice c(text, std::int64_t{256} << random() % 4, "f0 f1");
    if (seed % 2 == 1) { // by a profile
      std::vector<double> weights(c.g.edges.size());
      for (double &w : weights)
        w = static_cast<double>(random() % 1000);
      c.chosen = choose_stubs(c.g, {}, c.possible, std::int64_t{256} << random() % 4, weights);
    }
    for (std::uint32_t n = 0; n < c.g.nodes.size(); ++n) {
      const node_need &need = c.chosen.needs.needs[n];
      EXPECT_TRUE(need.need != no_need || !need.reason.starts_with("recursion"))
          << "seed " << seed << ", " << c.g.nodes[n].name << ": " << text;
      walk(c.g, c.chosen, random).enter(n, need.need, 6);
      ASSERT_FALSE(HasFatalFailure()) << "seed " << seed << ": " << text;
    }
  }
}

} // namespace
} // namespace nth::stack::test
