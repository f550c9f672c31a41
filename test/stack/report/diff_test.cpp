// Differences between two reports.
#include "report/diff.hpp"

#include "subject.hpp"

namespace nth::stack {
namespace {

std::vector<reported_function> reported(const analysis &a) {
  std::stringstream json;
  write_json(json, a, {});
  return parse_report(json, "r.json");
}

// Of: f 40 -> g 24; h alone, 16.
analysis three(std::int64_t g, bool assumed = false) {
  analysis a;
  a.graph.assumptions.emplace_back("believed");
  const auto first = add_function(a, "f(int)", 40);
  const auto second = add_function(a, "g", g);
  add_function(a, "h", 16);
  add_call(a, first, second, edge_kind::direct, assumed ? 1 : 0);
  finish(a);
  return a;
}

std::size_t difference(const analysis &before, const analysis &after, std::string &text,
                       const std::vector<std::string> &roots = {}) {
  std::size_t worse = 0;
  text = text_of(
      [&](std::ostream &out) { worse = write_difference(out, reported(before), reported(after), roots); });
  return worse;
}

TEST(diff, of_the_same_is_none) {
  std::string text;
  EXPECT_EQ(difference(menagerie(), menagerie(), text), 0U);
  EXPECT_EQ(text, "0 differences, 0 for the worse\n");
}

TEST(diff, a_need_that_grew_is_worse) {
  std::string text;
  EXPECT_EQ(difference(three(24), three(32), text), 2U);
  EXPECT_EQ(text, "need grew     f(int): needs 72 bytes, was 64 (+8)\n"
                  "need grew     g: needs 32 bytes, was 24 (+8)\n2 differences, 2 for the worse\n");
  EXPECT_EQ(difference(three(24), three(32), text, {"h"}), 0U);
  EXPECT_EQ(difference(three(24), three(32), text, {"f"}), 1U) << "by name without parameters";
  EXPECT_EQ(difference(three(32), three(24), text), 0U);
  EXPECT_NE(text.find("need shrank   g: needs 24 bytes, was 32 (-8)"), std::string::npos) << text;
}

TEST(diff, less_certain_is_worse_and_comes_first) {
  std::string text;
  EXPECT_EQ(difference(three(24), three(32, true), text), 2U);
  EXPECT_TRUE(text.starts_with("less certain  f(int): 72 bytes, assumed; was 64 bytes, proved\n")) << text;
  EXPECT_EQ(difference(three(24, true), three(24), text), 0U);
  EXPECT_TRUE(text.starts_with("more certain")) << text;
  analysis unbounded = three(24);
  unbounded.graph.nodes[1].bound = frame_bound::unbounded;
  unbounded.graph.nodes[1].reason = no_bound::dynamic_allocation;
  finish(unbounded);
  EXPECT_EQ(difference(three(24), unbounded, text), 2U);
  EXPECT_NE(text.find("g: unbounded: "), std::string::npos) << text;
}

TEST(diff, new_and_removed_functions_are_told) {
  std::string text;
  analysis more = three(24);
  add_function(more, "brand_new", 100);
  finish(more);
  EXPECT_EQ(difference(three(24), more, text), 0U);
  EXPECT_TRUE(text.starts_with("new           brand_new: 100 bytes, proved\n")) << text;
  EXPECT_EQ(difference(more, three(24), text), 0U);
  EXPECT_TRUE(text.starts_with("removed       brand_new")) << text;
}

TEST(diff, static_functions_of_one_name_are_matched_in_order) {
  analysis before;
  add_function(before, "helper", 16);
  add_function(before, "helper", 32);
  finish(before);
  analysis after;
  add_function(after, "helper", 16);
  add_function(after, "helper", 48);
  finish(after);
  std::string text;
  EXPECT_EQ(difference(before, after, text), 1U);
  EXPECT_NE(text.find("needs 48 bytes, was 32"), std::string::npos) << text;
}

TEST(diff, the_program_may_have_another_name) {
  analysis after = three(32);
  for (call_node &n : after.graph.nodes)
    n.module = "prog.new";
  after.module_names[0] = "prog.new";
  std::string text;
  EXPECT_EQ(difference(three(24), after, text), 2U) << text;
}

TEST(diff, what_is_no_report_is_refused) {
  for (const char *wrong :
       {"", "[]", "{}", "{\"tool\":\"x\"", R"({"tool":"nth-stack","format":2,"functions":[]})",
        R"({"tool":"nth-stack","format":1,"modules":[],"functions":[{}]})",
        R"({"tool":"nth-stack","format":1,"modules":[3],"functions":[]})",
        R"({"tool":"nth-stack","format":1,"modules":[],"functions":[{"address":"zz"}]})",
        R"({"tool":"nth-stack","format":1,"modules":[],"functions":{"a":3}})"}) {
    std::istringstream in(wrong);
    EXPECT_NE(message_of([&] { parse_report(in, "r.json"); }).find("r.json: "), std::string::npos) << wrong;
  }
  EXPECT_NE(message_of([] { read_report("/nowhere.json"); }).find("/nowhere.json: can't be read"),
            std::string::npos);
  std::string text;
  EXPECT_NE(
      message_of([&] { difference(three(8), three(8), text, {"nobody"}); }).find("has a function nobody"),
      std::string::npos);
}

} // namespace
} // namespace nth::stack
