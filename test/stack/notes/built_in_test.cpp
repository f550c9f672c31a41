// The notes of glibc that come with the command, for a static program and for a library.
#include "notes/built_in.hpp"
#include "nth/nth.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace nth::stack {
namespace {

std::vector<std::string> names_of(const annotations &notes, const std::string &function) {
  for (const annotation &note : notes.list)
    if (note.function == function && note.kind == annotation::what::targets)
      return note.names;
  ADD_FAILURE() << function << " has no note of its callees";
  return {};
}

bool has(const std::vector<std::string> &names, const std::string &name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

TEST(built_in_notes, name_what_may_be_left_out_only_where_it_is_linked) {
  const auto folder =
      std::filesystem::path(testing::TempDir()) / ("nth_built_in_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "small.c")
      << "#include <stdio.h>\nint main(void) { return printf(\"%d\", 1) < 0; }\n";
  std::ofstream(folder / "large.c") << "#include <obstack.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
                                       "#define obstack_chunk_alloc malloc\n#define obstack_chunk_free free\n"
                                       "int main(void) { struct obstack o; obstack_init(&o);\n"
                                       "  return obstack_printf(&o, \"%d\", 1) < 0; }\n";
  const auto notes_of = [&](const std::string &name) {
    const std::string to = (folder / name).string();
    EXPECT_EQ(std::system(("gcc -D_GNU_SOURCE -static -o " + to + " " + to + ".c").c_str()), 0);
    return built_in_notes(module(to));
  };
  const annotations small = notes_of("small");
  EXPECT_FALSE(has(names_of(small, "printf_positional"), "_IO_obstack_xsputn"));
  EXPECT_TRUE(has(names_of(small, "printf_positional"), "_IO_file_xsputn"));
  EXPECT_TRUE(has(names_of(notes_of("large"), "printf_positional"), "_IO_obstack_xsputn"));
  const char *library = "/lib/x86_64-linux-gnu/libc.so.6";
  if (std::filesystem::exists(library)) {
    const annotations shared = built_in_notes(module(library));
    EXPECT_TRUE(has(names_of(shared, "printf_positional"), "_IO_obstack_xsputn"));
    EXPECT_TRUE(has(names_of(shared, "btowc"), "__gconv_btwoc_ascii"));
  }
  for (const annotation &note : small.list)
    for (const std::string &name : note.names)
      EXPECT_EQ(name.find('?'), std::string::npos) << name;
  std::filesystem::remove_all(folder);
}

// The header says how much each of nth's own calls takes, and the notes say it to the tool.
TEST(built_in_notes, say_of_nth_what_its_header_says) {
  const annotations notes = built_in_notes(module(NTH_LIBRARY));
  ASSERT_FALSE(notes.list.empty());
  for (const annotation &note : notes.list) {
    EXPECT_EQ(note.kind, annotation::what::need) << note.function;
    const bool variadic = note.function == "nth_create" || note.function == "nth_batch_create";
    EXPECT_EQ(note.bytes, variadic ? 2 * NTH_CALL_STACK + 32 : NTH_CALL_STACK) << note.function;
  }
  EXPECT_TRUE(std::ranges::any_of(notes.list, [](const annotation &n) { return n.function == "nth_block"; }));
}

TEST(built_in_notes, give_way_to_what_the_user_says) {
  annotations all = parse_annotations("function f frame 98304 because \"x\"\n"
                                      "function f entered at most 3 times because \"x\"\n",
                                      "built-in");
  for (annotation &note : all.list)
    note.built_in = true;
  append(all, parse_annotations("function f frame 4096 because \"y\"\n", "user"));
  ASSERT_EQ(all.list.size(), 2U);
  EXPECT_EQ(all.list[0].kind, annotation::what::depth) << "of this the user said nothing";
  EXPECT_EQ(all.list[1].bytes, 4096);
}

} // namespace
} // namespace nth::stack
