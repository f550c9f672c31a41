// The language of annotation files: what is taken, as what, and what is refused with which words.
#include "notes/annotations.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

namespace nth::stack {
namespace {

using what = annotation::what;

annotation one(const std::string &line) {
  const annotations all = parse_annotations(line, "notes");
  return all.list.size() == 1 ? all.list.front() : throw std::logic_error("not one entry");
}

std::string complaint(const std::string &text) {
  try {
    parse_annotations(text, "notes");
  } catch (const bad_input &e) {
    return e.what();
  }
  return "accepted";
}

TEST(annotation_file, accepts) {
  struct row {
    const char *line;
    what kind;
    const char *function, *module;
    std::int64_t bytes;
    address site;
    std::vector<std::string> names;
    bool checked;
    const char *because;
  };
  const row rows[] = {
      {R"~(function __vfprintf_internal in libc.so.6 needs 14200 because "measured")~",
       what::need,
       "__vfprintf_internal",
       "libc.so.6",
       14200,
       0,
       {},
       false,
       "measured"},
      {R"~(function f needs 0x80 bytes because "m")~", what::need, "f", "", 128, 0, {}, false, "m"},
      {R"~(function qsort calls only cmp_int cmp_str because "two")~",
       what::targets,
       "qsort",
       "",
       0,
       0,
       {"cmp_int", "cmp_str"},
       false,
       "two"},
      {R"~(function f needs 4K because "m")~", what::need, "f", "", 4096, 0, {}, false, "m"},
      {R"~(function f calls nothing proved because "n")~", what::targets, "f", "", 0, 0, {}, true, "n"},
      {R"~(call at 0x40 of f calls nothing because "n")~", what::targets, "f", "", 0, 0x40, {}, false, "n"},
      {R"~(call at 0x1234 of f calls only g h because "b")~",
       what::targets,
       "f",
       "",
       0,
       0x1234,
       {"g", "h"},
       false,
       "b"},
      {R"~(call at 0x1234 of f in lib*.so calls only g proved because "b")~",
       what::targets,
       "f",
       "lib*.so",
       0,
       0x1234,
       {"g"},
       true,
       "b"},
      {R"~(function parse entered at most 30 times because "depth is checked")~",
       what::depth,
       "parse",
       "",
       30,
       0,
       {},
       false,
       "depth is checked"},
      {R"~(function parse entered at most 1 time because "once")~",
       what::depth,
       "parse",
       "",
       1,
       0,
       {},
       false,
       "once"},
      {R"~(function malloc never calls __libc_message __assert_fail because "those end it")~",
       what::no_call,
       "malloc",
       "",
       0,
       0,
       {"__libc_message", "__assert_fail"},
       false,
       "those end it"},
      {R"~(function f frame 64 because "x")~", what::frame, "f", "", 64, 0, {}, false, "x"},
      {R"~(function f frame 64 bytes proved because "read")~", what::frame, "f", "", 64, 0, {}, true, "read"},
      {R"~(function f blocks because "it waits")~", what::blocks, "f", "", 0, 0, {}, false, "it waits"},
      {R"~(function "ns::f(int, char*)" needs 8 because "a \"b\" \\")~",
       what::need,
       "ns::f(int, char*)",
       "",
       8,
       0,
       {},
       false,
       R"~(a "b" \)~"},
      {R"~(function f calls only "ns::g(int, long)" h because "#1")~",
       what::targets,
       "f",
       "",
       0,
       0,
       {"ns::g(int, long)", "h"},
       false,
       "#1"},
      {R"~(  function	yy* needs 99 because "x"   # and a comment)~",
       what::need,
       "yy*",
       "",
       99,
       0,
       {},
       false,
       "x"},
      {R"~(function "function" in "in" needs 99 because "names in quotes may be words")~",
       what::need,
       "function",
       "in",
       99,
       0,
       {},
       false,
       "names in quotes may be words"},
      {"function f needs 99 because \"x\"\r", what::need, "f", "", 99, 0, {}, false, "x"},
  };
  for (const row &r : rows) {
    SCOPED_TRACE(r.line);
    const annotation a = one(r.line);
    EXPECT_EQ(a.kind, r.kind);
    EXPECT_EQ(a.function, r.function);
    EXPECT_EQ(a.module, r.module);
    EXPECT_EQ(a.bytes, r.bytes);
    EXPECT_EQ(a.site, r.site);
    EXPECT_EQ(a.names, r.names);
    EXPECT_EQ(a.checked, r.checked);
    EXPECT_EQ(a.because, r.because);
    EXPECT_EQ(a.where, "notes:1");
  }
}

TEST(annotation_file, refuses_with_a_reason) {
  struct row {
    const char *text;
    const char *wrong;  // in the message
    const char *wanted; // too
  };
  const row rows[] = {
      {"functions f needs 8 because \"x\"", "\"functions\" begins no entry", "function NAME"},
      {"function", "the end of the line is no name", "the name of a function"},
      {"function f", "the end of the line says nothing about f", "needs N, frame N"},
      {"function f eats 8 because \"x\"", "\"eats\" says nothing about f", "entered at most N times"},
      {"function f needs", "the end of the line is no number", "bytes"},
      {"function f needs many because \"x\"", "\"many\" is no number", "bytes"},
      {"function f needs 12k because \"x\"", "\"12k\" is no number", "bytes"},
      {"function f needs -8 because \"x\"", "\"-8\" is no number", "bytes"},
      {"function f needs 0x because \"x\"", "\"0x\" is no number", "bytes"},
      {"function f needs \"8\" because \"x\"", "\"8\" is no number", "bytes"},
      {"function f needs 7 because \"x\"", "\"7\" is too small", "from 8"},
      {"function f needs 99999999999999999999999 because \"x\"", "is too large", "up to"},
      {"function f needs 2000000000000000 because \"x\"", "is too large", "up to"},
      {"function f frame 0 because \"x\"", "\"0\" is too small", "from 8"},
      {"function f entered at most 0 times because \"x\"", "\"0\" is too small", "from 1"},
      {"function f entered 3 times because \"x\"", "\"3\" where \"at\" was expected",
       "entered at most 30 times"},
      {"function f entered at most 3 because \"x\"", "where \"time\" was expected",
       "entered at most 30 times"},
      {"function f needs 8", "the end of the line where \"because\" was expected", "the reason"},
      {"function f needs 8 because", "the end of the line is no reason", "text in quotes"},
      {"function f needs 8 because measured", "\"measured\" is no reason", "text in quotes"},
      {"function f needs 8 because \"\"", "the reason is empty", "why this may be believed"},
      {"function f needs 8 because \"x", "a quote is not closed", "before the end of the line"},
      {"function f needs 8 because \"x\" or so", "\"or\" comes after the reason", "the end of the line"},
      {"function f needs 8 proven because \"x\"", "\"proven\" where \"because\"", "the reason"},
      {"function f in because \"x\"", "\"because\" is no name", "library"},
      {"function f calls g because \"x\"", "\"g\" where \"only\" was expected", "calls only g h"},
      {"function f calls only because \"x\"", "\"because\" is no name", "names of functions"},
      {"function f never calls because \"x\"", "\"because\" is no name", "names of functions"},
      {"function f never g because \"x\"", "\"g\" where \"calls\" was expected", "never calls abort"},
      {"call f calls only g because \"x\"", "\"f\" where \"at\" was expected", "call at 0x1234"},
      {"call at f of g calls only h because \"x\"", "\"f\" is no number", "address"},
      {"call at 0x10 f calls only h because \"x\"", "\"f\" where \"of\" was expected", "call at 0x1234"},
      {"call at 0x10 of f needs 8 because \"x\"", "\"needs\" where \"calls\"", "calls only g h"},
      {"function f needs 8 because \"x\"\nfunction f needs 8 because \"y\"",
       "notes:2: the same is said of f at notes:1", "keep one"},
      {"function f needs 8 because \"x\"\nfunction f needs 9 because \"y\"",
       "notes:2: the same is said of f at notes:1", "keep one"},
      {"function f calls only g because \"x\"\nfunction f never calls h g because \"y\"", "may call g",
       "keep one"},
      {"function f never calls h g because \"x\"\nfunction f calls only g because \"y\"", "may call g",
       "keep one"},
  };
  for (const row &r : rows) {
    SCOPED_TRACE(r.text);
    const std::string said = complaint(r.text);
    EXPECT_EQ(said.find("notes:"), 0U) << said;
    EXPECT_NE(said.find(r.wrong), std::string::npos) << said;
    EXPECT_NE(said.find(r.wanted), std::string::npos) << said;
  }
}

TEST(annotation_file, counts_lines_and_keeps_what_differs_apart) {
  const annotations all = parse_annotations("# needs\n\n"
                                            "function f needs 8 because \"x\"\n"
                                            "function f in liba.so needs 9 because \"x\"\n"
                                            "  # more\n"
                                            "function f frame 8 because \"x\"\n"
                                            "call at 0x10 of f calls only g because \"x\"\n"
                                            "call at 0x20 of f calls only g because \"x\"",
                                            "n.txt");
  ASSERT_EQ(all.list.size(), 5U);
  EXPECT_EQ(all.list[0].where, "n.txt:3");
  EXPECT_EQ(all.list[4].where, "n.txt:8");
  EXPECT_TRUE(parse_annotations("", "n").list.empty());
  EXPECT_TRUE(parse_annotations("\n\n# x", "n").list.empty());
}

TEST(annotation_file, bytes_that_are_no_text_are_refused_or_taken_without_harm) {
  std::string bytes;
  for (int i = 0; i < 4096; ++i)
    bytes += static_cast<char>(i * 131 + i / 7);
  EXPECT_NE(complaint(bytes), "accepted");
  EXPECT_NE(complaint(std::string("function \0 needs", 16)), "accepted");
}

TEST(annotation_file, is_read_from_disk) {
  const std::string name = testing::TempDir() + "nth_stack_notes_test.txt";
  std::ofstream(name) << "function f needs 8 because \"x\"\n";
  annotations all = read_annotations(name);
  ASSERT_EQ(all.list.size(), 1U);
  EXPECT_EQ(all.list[0].where, name + ":1");
  append(all, read_annotations(name));
  EXPECT_EQ(all.list.size(), 2U);
  std::remove(name.c_str());
  EXPECT_THROW(read_annotations(name), bad_input);
}

} // namespace
} // namespace nth::stack
