// What annotations do to needs, and what is said of those that do nothing.
#include "solve_graph.hpp"

#include <gtest/gtest.h>

namespace nth::stack::test {
namespace {

using what = annotation::what;

annotations notes(std::vector<annotation> list) { return {.list = std::move(list), .misplaced = {}}; }

TEST(noted, a_need_ends_the_search) {
  const std::string text = "main 8 -> f@16; f 8 alloca -> g@100; g 50 -> f@16 nth_block@8; nth_block 8";
  const solved s(text, notes({note(what::need, "f", 300)}));
  EXPECT_EQ(s.of("main").need, 316);
  EXPECT_EQ(s.of("g").need, 316) << "no recursion is left";
  EXPECT_EQ(s.of("main").sure, certainty::assumed);
  ASSERT_EQ(s.of("main").assumptions.size(), 1U);
  EXPECT_EQ(s.t.assumptions.at(s.of("main").assumptions.front()),
            "f needs at most 300 bytes: said so (test:1)");
  EXPECT_TRUE(s.of("main").may_block) << "that holds for the stack alone";
  EXPECT_EQ(s.chain("main"), "main@16 f@300");

  annotation proved = note(what::need, "f", 300);
  proved.checked = true;
  const solved p(text, notes({proved}));
  EXPECT_EQ(p.of("main").sure, certainty::proved);
  EXPECT_EQ(p.t.assumptions.size(), 1U);
}

TEST(noted, a_frame_bounds_what_the_analysis_could_not) {
  const solved s("f 8 alloca -> g@16 h@0 tail; g 40; h 500", notes({note(what::frame, "f", 256)}));
  EXPECT_EQ(s.of("f").need, 500) << "the jump is made when the frame is gone";
  const solved only("f 8 alloca -> g@16; g 40", notes({note(what::frame, "f", 256)}));
  EXPECT_EQ(only.of("f").need, 296) << "the call may come where the frame is deepest";
  EXPECT_EQ(only.chain("f"), "f@256 g@40");
  EXPECT_EQ(only.of("f").sure, certainty::assumed);

  const solved less("f 800 -> g@700; g 40", notes({note(what::frame, "f", 256)}));
  EXPECT_EQ(less.of("f").need, 296);
  const solved more("f 80 -> g@70; g 40", notes({note(what::frame, "f", 256)}));
  EXPECT_EQ(more.of("f").need, 110);
  EXPECT_EQ(more.of("f").sure, certainty::proved) << "the note is not needed";
  ASSERT_EQ(more.t.unused_notes.size(), 1U);
  EXPECT_NE(more.t.unused_notes[0].find("the analysis proves as much"), std::string::npos);

  const solved blind("f jumps", notes({note(what::frame, "f", 256)}));
  EXPECT_EQ(blind.of("f").need, no_need) << "calls may have been missed";
  EXPECT_NE(blind.of("f").reason.find("what it calls is not known either"), std::string::npos);
}

TEST(noted, a_depth_bounds_recursion) {
  const std::string text = "main 8 -> f@16; f 32 -> f@32 g@40; g 100";
  const solved s(text, notes({note(what::depth, "f", 10)}));
  EXPECT_EQ(s.of("f").need, 9 * 32 + 140);
  EXPECT_EQ(s.of("main").need, 16 + 9 * 32 + 140);
  EXPECT_EQ(s.of("f").sure, certainty::assumed);
  EXPECT_EQ(s.of("f").segment, 140);
  EXPECT_EQ(s.back(), "f->f") << "a stub may stand there all the same";
  EXPECT_EQ(s.chain("main"), "main@16 f@32 f@40 g@100");
  EXPECT_EQ(solved(text, notes({note(what::depth, "f", 1)})).of("f").need, 140);
  EXPECT_EQ(solved(text, notes({note(what::depth, "f", 1)})).chain("f"), "f@40 g@100");

  const std::string two = "main 8 -> f@16; f 32 -> f@32 g@48; g 64 -> f@64 g@80";
  const solved partly(two, notes({note(what::depth, "f", 10)}));
  EXPECT_EQ(partly.of("main").need, no_need);
  EXPECT_EQ(partly.of("main").reason, "recursion: g -> g");
  const solved both(two, notes({note(what::depth, "f", 10), note(what::depth, "g", 2)}));
  EXPECT_GE(both.of("main").need, 16 + 9 * 32 + 48 + 80 + 64);
  EXPECT_LE(both.of("main").need, 16 + 10 * 48 + 2 * 80 + 64);

  const solved flat("f 8", notes({note(what::depth, "f", 10)}));
  ASSERT_EQ(flat.t.unused_notes.size(), 1U);
  EXPECT_NE(flat.t.unused_notes[0].find("f is not recursive"), std::string::npos);
  const solved far(text, notes({note(what::depth, "f", std::int64_t{1} << 58)}));
  EXPECT_EQ(far.of("main").need, no_need);
}

TEST(noted, targets_take_the_place_of_unknown_callees) {
  const std::string text =
      "qsort 32 open:indirect -> S@48 indirect if:1 plain@16; S set -> any@0; any alloca;"
      "plain 8; cmp_int 24; cmp_str 64";
  const solved s(text, notes({note(what::targets, "qsort", 0, {"cmp_int", "cmp_str"})}));
  EXPECT_EQ(s.of("qsort").need, 48 + 64) << "at the deepest of the indirect calls";
  EXPECT_EQ(s.of("qsort").assumptions.size(), 1U) << "that of the set is gone";
  EXPECT_EQ(s.t.unused_notes.size(), 0U);
  EXPECT_EQ(s.chain("qsort"), "qsort@48 cmp_str@64");

  annotation at_set = note(what::targets, "qsort", 0, {"cmp_int"});
  at_set.site = 0x1008;
  const solved one(text, notes({at_set}));
  EXPECT_EQ(one.of("qsort").need, no_need) << "the other call is as unknown as before";
  EXPECT_EQ(one.of("qsort").reason.find("call at 0x1500"), 0U);
  annotation at_open = at_set;
  at_open.site = 0x1500;
  EXPECT_EQ(solved(text, notes({at_set, at_open})).of("qsort").need, 48 + 24);
  annotation at_nothing = at_set;
  at_nothing.site = 0x1234;
  EXPECT_NE(solved(text, notes({at_nothing})).t.unused_notes.at(0).find("there is no indirect call"),
            std::string::npos);

  const solved wrong(text, notes({note(what::targets, "qsort", 0, {"cmp_int", "cmp_dbl"})}));
  EXPECT_EQ(wrong.of("qsort").need, no_need);
  EXPECT_NE(wrong.t.unused_notes.at(0).find("there is no function cmp_dbl"), std::string::npos);
  const solved none(text, notes({note(what::targets, "qsort", 0, {})}));
  EXPECT_EQ(none.of("qsort").need, 32) << "no pointer is called; of the rest, plain is the deepest";
  EXPECT_EQ(none.of("qsort").assumptions.size(), 1U);
  EXPECT_EQ(none.t.unused_notes.size(), 0U);

  const solved missing("f 8 open; g 8", notes({note(what::targets, "f", 0, {"g"})}));
  EXPECT_EQ(missing.of("f").need, no_need) << "a direct call of what is not there stays";
}

TEST(noted, targets_are_found_as_the_source_writes_them) {
  call_graph g = graph_of("f 8 open:indirect; a 16; b 24; c 32; d 400");
  g.nodes[1].name = "ns::cmp(int, int)";
  g.nodes[2].name = "ns::cmp(double (*)(int), std::vector<int, std::allocator<int> >) [clone .isra.0]";
  g.nodes[3].name = "bool other::ns::cmp<int>(int)";
  g.nodes[4].name = "ns::xcmp(int)";
  for (const char *written : {"ns::cmp", "cmp", "&ns::cmp", "cmp<int>"}) {
    SCOPED_TRACE(written);
    EXPECT_EQ(solve(g, notes({note(what::targets, "f", 0, {written})})).needs[0].need, 48)
        << "any that it may be";
  }
  EXPECT_EQ(solve(g, notes({note(what::targets, "f", 0, {"ns::xcmp"})})).needs[0].need, 416);
  EXPECT_EQ(solve(g, notes({note(what::targets, "f", 0, {"s::cmp"})})).needs[0].need, no_need);
}

TEST(noted, functions_are_found_by_each_of_their_names) {
  call_graph g = graph_of("f 8 open:indirect -> abort@16; abort 4000; a 16; free 8 alloca");
  g.nodes[0].aliases = {"__GI_f"};
  g.nodes[1].aliases = {"__GI_abort"};
  g.nodes[2].aliases = {"_ZN2ns3cmpEi", "ns::cmp(int)"};
  g.nodes[3].aliases = {"__GI___libc_free", "cfree"};
  const annotation calls = note(what::targets, "__GI_f", 0, {"cmp"});
  EXPECT_EQ(solve(g, notes({calls})).needs[0].need, 4016);
  EXPECT_EQ(solve(g, notes({calls, note(what::no_call, "f", 0, {"__GI_abort"})})).needs[0].need, 32);
  for (const char *name : {"cfree", "__GI___libc_free", "__GI_*"})
    EXPECT_EQ(solve(g, notes({note(what::need, name, 500)})).needs[3].need, 500) << name;
}

TEST(noted, what_is_never_called_is_left_out) {
  const solved s("malloc 64 -> assert@32 brk@16; assert 5000 -> malloc@100; brk 40",
                 notes({note(what::no_call, "malloc", 0, {"assert"})}));
  EXPECT_EQ(s.of("malloc").need, 64);
  EXPECT_EQ(s.of("malloc").sure, certainty::assumed);
  EXPECT_EQ(s.of("assert").need, 5000);
  EXPECT_EQ(s.back(), "");

  const std::string set =
      "f 8 -> S@16 indirect if:1; h 8 -> S@16 indirect; S set -> a@0 b@0 if:2; a 40; b 400";
  const solved of_set(set, notes({note(what::no_call, "f", 0, {"b"})}));
  EXPECT_EQ(of_set.of("f").need, 56);
  EXPECT_EQ(of_set.of("h").need, 416) << "others may";
  const solved of_set_a(set, notes({note(what::no_call, "f", 0, {"a"})}));
  EXPECT_EQ(of_set_a.of("f").need, 416);
  EXPECT_EQ(of_set_a.of("f").assumptions.size(), 3U) << "the call's, the member's, the note's";

  const solved idle("f 8 -> g@16; g 8; h 8", notes({note(what::no_call, "f", 0, {"h"})}));
  EXPECT_EQ(idle.t.unused_notes.size(), 1U);
  EXPECT_EQ(idle.of("f").sure, certainty::proved);
  const solved both("f 8 open:indirect; g 80; h 800",
                    notes({note(what::no_call, "f", 0, {"h"}), note(what::targets, "f", 0, {"g", "h"})}));
  EXPECT_EQ(both.of("f").need, 96);
}

TEST(noted, a_function_may_be_said_to_block) {
  const solved s("main 8 -> f@16; f 8; g 8 open", notes({note(what::blocks, "f")}));
  EXPECT_TRUE(s.of("main").may_block);
  EXPECT_TRUE(s.of("g").may_block);
  EXPECT_EQ(s.blocking("main"), "main@16 f@8");
}

TEST(noted, functions_are_found_by_name_module_pattern_and_place) {
  call_graph g = graph_of("parse 8 alloca; parse_all 8 alloca; x 8 alloca; y 8 alloca");
  g.nodes[1].symbol = "parse.constprop.0";
  g.nodes[2].symbol = "_Z5parsei";
  g.nodes[2].name = "parse(int)";
  g.nodes[3].module = "libx.so.1";
  const auto bounded = [&](annotation a) {
    std::string result;
    const need_table t = solve(g, notes({std::move(a)}));
    for (std::size_t n = 0; n < t.needs.size(); ++n)
      result += t.needs[n].need != no_need ? std::to_string(n) : "";
    return result;
  };
  const auto in = [](annotation a, const std::string &module, address within = 0) {
    a.module = module;
    a.within = within;
    return a;
  };
  EXPECT_EQ(bounded(note(what::need, "parse", 64)), "01") << "copies that the compiler made too";
  EXPECT_EQ(bounded(note(what::need, "parse*", 64)), "012");
  EXPECT_EQ(bounded(note(what::need, "parse(int)", 64)), "2");
  EXPECT_EQ(bounded(note(what::need, "_Z5parsei", 64)), "2");
  EXPECT_EQ(bounded(in(note(what::need, "*", 64), "a.*")), "012");
  EXPECT_EQ(bounded(in(note(what::need, "*", 64), "lib*.so*")), "3");
  EXPECT_EQ(bounded(in(note(what::need, "*", 64), "lib*.so")), "");
  EXPECT_EQ(bounded(in(note(what::need, "parse", 64), "libx.so.1")), "");
  EXPECT_EQ(bounded(in(note(what::need, "", 64), "a.out", 0x2fff)), "1") << "0x2000 is the last before";
  EXPECT_EQ(bounded(in(note(what::need, "", 64), "a.out", 0x2000)), "1");
  EXPECT_EQ(bounded(in(note(what::need, "", 64), "a.out", 0xfff)), "");

  const need_table t =
      solve(g, notes({note(what::need, "scan", 64), in(note(what::blocks, "parse"), "liby.so")}));
  ASSERT_EQ(t.unused_notes.size(), 2U);
  EXPECT_EQ(t.unused_notes[0], "test:1: scan needs at most 64 bytes: there is no such function");
  EXPECT_EQ(t.unused_notes[1], "test:1: parse may block: there is no such function in liby.so");
}

TEST(noted, two_notes_allow_what_either_allows) {
  const solved s("f 8 alloca", notes({note(what::need, "f", 100), note(what::need, "f*", 300)}));
  EXPECT_EQ(s.of("f").need, 300);
  const solved t("f 8 open:indirect; g 80; h 800",
                 notes({note(what::targets, "f", 0, {"g"}), note(what::targets, "f*", 0, {"h"})}));
  EXPECT_EQ(t.of("f").need, 816);
}

} // namespace
} // namespace nth::stack::test
