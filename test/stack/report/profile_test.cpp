// Files of callgrind, and what of a run they lay over the call graph.
#include "report/profile.hpp"

#include "report/text.hpp"
#include "subject.hpp"

#include <nlohmann/json.hpp>

namespace nth::stack {
namespace {

executed_calls parse(const std::string &text) {
  std::istringstream in(text);
  return parse_callgrind(in, "cg.out");
}

std::uint64_t count_of(const executed_calls &c, std::string_view caller, std::string_view callee,
                       address at) {
  std::uint64_t sum = 0;
  for (const executed_call &call : c.calls)
    if (c.functions[call.caller].name == caller && c.functions[call.callee].name == callee && call.at == at)
      sum += call.count;
  return sum;
}

// Figure 1 as a run: start calls B at 0x1010; B calls C at 0x1110 and D at 0x1120; D calls B at 0x1310, E at 0x1320; E
// calls E at 0x1410. Names by number, places relative and absolute, jumps among them, a library.
constexpr const char *run_of_figure_1 = R"(# callgrind format
version: 1
creator: hand
cmd:   ./prog 1
positions: instr line
events: Ir

ob=(1) /build/prog
fl=(1) prog.c
fn=(1) start
0x1000 1 5
cfn=(2) B
calls=3 0x1100 0
0x1010 0 100
+4 * 2
jcnd=1/2 0x1030 1
* *
jump=7 +8 1
+4 * 

fn=(2)
0x1100 0 2
cfn=(3) C
calls=4 +256 0
+16 0 40
cfn=(4) D
calls=2 0x1300 0
+16 0 60
cob=(2) /lib/libx.so.1
cfi=(9) x.c
cfn=(5) write_all@@X_1.0
calls=1 0x9000 0
+16 0 60
cfn=(3)
calls=1 0x1200 0
-32 0 10

fn=(4)
0x1310 0 1
cfn=(6) B'2
calls=5 0x1100 0
* 0 1
cfn=(7) E
calls=6 0x1400 0
0x1320 0 1

fn=(7)
cfn=(8) E'2
calls=9 0x1400 0
0x1410 0 1

totals: 300
)";

TEST(callgrind, names_places_and_counts) {
  const executed_calls c = parse(run_of_figure_1);
  EXPECT_EQ(c.command, "./prog 1");
  EXPECT_EQ(c.functions.size(), 6U);
  EXPECT_EQ(count_of(c, "start", "B", 0x1010), 3U);
  EXPECT_EQ(count_of(c, "B", "C", 0x1110), 5U) << "two lines of one call";
  EXPECT_EQ(count_of(c, "B", "D", 0x1120), 2U);
  EXPECT_EQ(count_of(c, "B", "write_all", 0x1130), 1U);
  EXPECT_EQ(count_of(c, "D", "B", 0x1310), 5U) << "a level of recursion is no function";
  EXPECT_EQ(count_of(c, "E", "E", 0x1410), 9U);
  EXPECT_EQ(c.calls.size(), 7U);
  for (const executed_function &f : c.functions)
    EXPECT_EQ(f.object, f.name == "write_all" ? "/lib/libx.so.1" : "/build/prog") << f.name;
}

TEST(callgrind, without_addresses) {
  const executed_calls c =
      parse("positions: line\nevents: Ir\nob=/build/prog\nfn=start\ncfn=B\ncalls=3 10\n12 100\n"
            "cfn=(below main)\ncalls=2 10\n+1 5\n");
  EXPECT_EQ(count_of(c, "start", "B", 0), 3U);
  EXPECT_EQ(count_of(c, "start", "(below main)", 0), 2U);
  EXPECT_EQ(c.functions[1].entry, 0U);
}

TEST(callgrind, what_is_none_is_refused_by_line) {
  const std::pair<const char *, const char *> wrong[] = {
      {"", "no line \"positions:\""},
      {"\x7f"
       "ELF",
       "no line \"positions:\""},
      {"12 3\n", ":1: a cost without"},
      {"positions: line\ncalls=3 4\n", ":2: \"calls=\" before"},
      {"positions: line\nfn=a\ncfn=b\ncalls=x 4\n", ":4: \"calls=\" without a number"},
      {"positions: line\nfn=a\ncfn=b\ncalls=4\n", ":4: \"calls=\" without a number"},
      {"positions: line\nfn=a\ncfn=b\ncalls=4 \n", ":4: \"calls=\" without the place"},
      {"positions: line\nfn=a\ncfn=b\ncalls=4 5\n", "is the file cut short"},
      {"positions: line\nfn=(3)\n", ":2: name (3) was not given"},
  };
  for (const auto &entry : wrong) {
    const std::string message = message_of([&] { parse(entry.first); });
    EXPECT_NE(message.find(entry.second), std::string::npos) << message;
  }
  EXPECT_NE(message_of([] { read_callgrind("/nowhere"); }).find("/nowhere: can't be read"),
            std::string::npos);
}

TEST(callgrind, damaged_files_end) {
  const std::string whole = run_of_figure_1;
  unsigned seed = 1;
  for (int i = 0; i < 2000; ++i) {
    std::string damaged = whole;
    for (int k = 0; k < 4; ++k) {
      seed = seed * 1664525 + 1013904223;
      damaged[(seed >> 8) % damaged.size()] = static_cast<char>(seed >> 3);
    }
    damaged.resize((seed >> 5) % whole.size());
    try {
      parse(damaged);
    } catch (const bad_input &) { // as it should
    }
  }
}

TEST(profile, figure_1_is_classified) {
  const analysis a = figure_1();
  const profile_result p = lay_over(a, parse(run_of_figure_1), {"start"});
  EXPECT_EQ(p.counts.forward, 3U + 5 + 2 + 6);
  EXPECT_EQ(p.counts.backward, 5U + 9);
  EXPECT_EQ(p.counts.indirect, 0U);
  EXPECT_EQ(p.counts.non_zero, 1U + 5 + 9);
  EXPECT_EQ(p.counts.zero, 0U);
  EXPECT_EQ(p.counts.outside, 1U) << "the library has no such function here";
  ASSERT_EQ(p.space.size(), 1U);
  // start's segment of 64 and one of 48 for B again, 16 for E again: the larger of these ways.
  EXPECT_EQ(p.space[0].allocated, 64 + 48);
  // start, B, D, then once around: B, D, E, 16 each.
  EXPECT_EQ(p.space[0].needed, 6 * 16);
  EXPECT_FALSE(p.space[0].at_least);
}

TEST(profile, roots_are_what_nobody_called_where_there_is_no_main) {
  const analysis a = figure_1();
  const profile_result p = lay_over(a, parse(run_of_figure_1), {});
  ASSERT_EQ(p.space.size(), 1U);
  EXPECT_EQ(a.graph.nodes[p.space[0].root].name, "start");
}

// main calls through a pointer: small (just a return address) and large, by a set; and what is not known at all.
TEST(profile, indirect_calls_allocate_for_callees_with_a_frame) {
  analysis a;
  const auto main = add_function(a, "main", 40);
  const auto small = add_function(a, "small", 8);
  const auto large = add_function(a, "large", 72);
  const auto set = add_function(a, "any of 2 functions", 0, "");
  const auto other = add_function(a, "other", 24);
  a.graph.nodes[set].is_set = true;
  add_call(a, main, set, edge_kind::indirect);
  a.graph.edges.push_back({set, small, 0, 0, edge_kind::tail});
  a.graph.edges.push_back({set, large, 0, 0, edge_kind::tail});
  a.graph.open.push_back({main, 0x1030, 40, true, "a pointer"});
  finish(a);
  const std::string run =
      "positions: instr\nob=/x/prog\nfn=main\ncfn=small\ncalls=10 0x1100\n0x1010 1\ncfn=large\n"
      "calls=3 0x1200\n0x1010 1\ncfn=other\ncalls=2 0x1400\n0x1030 1\n"
      "cfn=other\ncalls=4 0x1400\n0x1050 1\n";
  const profile_result p = lay_over(a, parse(run), {});
  EXPECT_EQ(p.counts.indirect, 15U);
  EXPECT_EQ(p.counts.zero, 10U);
  EXPECT_EQ(p.counts.non_zero, 1U + 3 + 2);
  EXPECT_EQ(p.counts.missing, 4U) << "no call of the graph is at 0x1050";
  ASSERT_EQ(p.missing.size(), 1U);
  EXPECT_EQ(p.missing[0].callee, other);
  ASSERT_EQ(p.space.size(), 1U);
  EXPECT_EQ(p.space[0].allocated, 40 + 72);
  EXPECT_EQ(p.space[0].needed, 40 + 72);
}

// callgrind knows functions by name, and lays to `jumper` what its tail call, `behind`, calls.
TEST(profile, calls_are_laid_to_who_makes_them) {
  analysis a;
  const auto main = add_function(a, "main", 40);
  const auto same = add_function(a, "same", 16);
  const auto other_same = add_function(a, "same", 24);
  const auto jumper = add_function(a, "jumper", 8);
  const auto behind = add_function(a, "behind", 32);
  add_call(a, main, same);
  add_call(a, main, other_same);
  add_call(a, main, jumper);
  add_call(a, jumper, behind, edge_kind::tail);
  add_call(a, behind, other_same);
  finish(a);
  const profile_result p = lay_over(
      a,
      parse(
          "positions: instr\nob=/x/prog\nfn=main\ncfn=same\ncalls=1 0x1100\n0x1010 1\ncfn=same\ncalls=2 "
          "0x1200\n"
          "0x1020 1\ncfn=jumper\ncalls=4 0x1300\n0x1030 1\nfn=jumper\ncfn=same\ncalls=8 0x1200\n0x1410 1\n"),
      {});
  EXPECT_EQ(p.counts.missing, 0U) << (p.missing.empty() ? 0 : p.missing[0].at);
  EXPECT_EQ(p.counts.forward, 1U + 2 + 4 + 8);
}

TEST(profile, a_run_of_another_program_is_refused) {
  const analysis a = figure_1();
  const std::string message = message_of([&] {
    lay_over(a, parse("cmd: ./tab\npositions: instr\nob=/x/tab\nfn=start\ncfn=B\ncalls=1 0x1100\n0x1010 1\n"),
             {});
  });
  EXPECT_NE(message.find("the run is of `./tab`: nothing of ./prog ran in it"), std::string::npos) << message;
}

TEST(profile, is_written_for_people_and_programs) {
  analysis a = figure_1();
  a.profile = lay_over(a, parse(run_of_figure_1), {"start"});
  const std::string text = text_of([&](std::ostream &out) { write_profile(out, a, *a.profile); });
  EXPECT_NE(text.find("            16 (53 %)              14 (47 %)                0 (0 %)               15  "
                      "              0"),
            std::string::npos)
      << text;
  EXPECT_NE(
      text.find("start: 112 bytes (112 B) in segments on the deepest path, 96 (96 B) in its frames (86 %)"),
      std::string::npos)
      << text;
  const auto json = nlohmann::json::parse(text_of([&](std::ostream &out) { write_json(out, a, {}); }));
  EXPECT_EQ(json.at("profile").at("backward"), 14);
  EXPECT_EQ(json.at("profile").at("space")[0].at("allocated"), 112);
}

} // namespace
} // namespace nth::stack
