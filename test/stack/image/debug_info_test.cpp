// Signatures from debug information: in the file, beside it, damaged.
#include "image/debug_info.hpp"
#include "subject.hpp"

#include <algorithm>
#include <random>
#include <utility>

#include <gtest/gtest.h>

using namespace nth::stack;
using namespace nth::stack::test;

namespace {

address at(const module &m, std::string_view name) {
  for (const symbol &s : m.symbols)
    if (s.name == name && s.defined)
      return s.at;
  throw std::runtime_error("no symbol " + std::string(name));
}

constexpr std::pair<const char *, const char *> of_c[] = {
    {"of_int", "i4 i1 i2 i8 -> i4"},
    {"of_pointers", "p p p -> -"},
    {"of_floats", "f4 f8 -> f8"},
    {"of_long_double", "f16 -> f16"},
    {"of_struct", "s16 p -> s16"},
    {"of_large", "s40 -> s40"},
    {"of_enum", "i4 i1 -> i4"},
    {"of_complex", "c8 -> c16"},
    {"of_vector", "v16 -> v16"},
    {"of_any_number", "p -> i4"},
    {"of_old_style", "-> i4"},
    {"hidden", "i4 p -> i4"},
    {"main", "-> i4"},
};

void expect_c(const module &m, const module &names, const debug_info &d) {
  for (const auto &[name, text] : of_c) {
    const signature *s = d.of(at(names, name));
    ASSERT_NE(s, nullptr) << m.path << " " << name;
    EXPECT_EQ(s->text, text) << name;
    EXPECT_EQ(s->variadic, std::string_view(name) == "of_any_number") << name;
    EXPECT_EQ(s->prototyped, std::string_view(name) != "of_old_style") << name;
  }
  EXPECT_EQ(d.of(1), nullptr);
}

} // namespace

TEST(debug_info, tells_signatures_of_c) {
  for (const char *flags : {"-g", "-g -gdwarf-4", "-g -no-pie", "-g -flto -rdynamic", "-g -gz", "-g -O0"}) {
    const module m(build("signatures.c", flags));
    const debug_info d(m, "/nowhere");
    EXPECT_EQ(d.path, m.path);
    expect_c(m, m, d);
  }
  if (succeeds("clang --version")) {
    const module m(build("signatures.c", "-g -std=gnu89", "clang"));
    expect_c(m, m, debug_info(m, "/nowhere"));
  }
}

TEST(debug_info, tells_signatures_of_cxx) {
  const module m(build("signatures.cpp", "-g", "g++"));
  const debug_info d(m, "/nowhere");
  const std::pair<const char *, const char *> expected[] = {
      {"_ZN5space5thing7of_thisEdRKS0_", "p f8 p -> i8"},
      {"_ZN5space5thing7of_noneEv", "-> i4"},
      {"_ZN5space9of_memberEMNS_5thingEiMS0_FldRKS0_EOS0_", "i8 s16 p -> i4"},
      {"_ZN5space5thingD0Ev", "p i4 -> -"},
  };
  for (const auto &[name, text] : expected) {
    const signature *s = d.of(at(m, name));
    ASSERT_NE(s, nullptr) << name;
    if (std::string_view(name).find("D0") == std::string_view::npos) {
      EXPECT_EQ(s->text, text) << name;
      EXPECT_TRUE(s->prototyped);
    }
  }
}

TEST(debug_info, counts_registers_of_arguments) {
  struct {
    signature s;
    argument_count least, most;
  } const all[] = {
      {{"i4 p i8 -> i4", false, true}, {3, 0}, {3, 0}},
      {{"f8 i4 f4 -> f8", false, true}, {1, 2}, {1, 2}},
      {{"i1 i1 i1 i1 i1 i1 i1 i1 -> -", false, true}, {6, 0}, {6, 0}},
      {{"s16 p -> -", false, true}, {1, 0}, {3, 2}},
      {{"s24 p -> s24", false, true}, {2, 0}, {3, 1}},
      {{"p -> s12", false, true}, {1, 0}, {2, 0}},
      {{"p ? -> -", false, true}, {1, 0}, {3, 2}},
      {{"f16 c8 c16 v16 -> f16", false, true}, {0, 4}, {0, 5}},
      {{"p i4 -> i4", true, true}, {0, 0}, {6, 8}},
      {{"p i4 -> i4", false, false}, {0, 0}, {6, 8}},
      {{"-> -", false, true}, {0, 0}, {0, 0}},
  };
  for (const auto &each : all) {
    EXPECT_EQ(least_arguments(each.s).integers, each.least.integers) << each.s.text;
    EXPECT_EQ(least_arguments(each.s).vectors, each.least.vectors) << each.s.text;
    EXPECT_EQ(most_arguments(each.s).integers, each.most.integers) << each.s.text;
    EXPECT_EQ(most_arguments(each.s).vectors, each.most.vectors) << each.s.text;
  }
}

// A destructor that deletes is called with `this` alone; gcc tells of a second parameter that it does not have.
TEST(debug_info, takes_no_account_of_parameters_that_the_compiler_adds) {
  const module m(build("signatures.cpp", "-g", "g++"));
  const debug_info d(m, "/nowhere");
  const signature *s = d.of(at(m, "_ZN5space5thingD0Ev"));
  ASSERT_NE(s, nullptr);
  const argument_count least = least_arguments(*s);
  EXPECT_EQ(least.integers, 1U) << s->text;
}

TEST(debug_info, of_functions_folded_into_one_tells_nothing) {
  if (!succeeds("ld.gold --version"))
    return;
  const module m(build("folded.c", "-g -ffunction-sections -fuse-ld=gold -Wl,--icf=all"));
  ASSERT_EQ(at(m, "of_pointer"), at(m, "of_number"));
  const debug_info d(m, "/nowhere");
  EXPECT_EQ(d.of(at(m, "of_pointer")), nullptr);
  EXPECT_NE(d.of(at(m, "main")), nullptr);
}

TEST(debug_info, is_found_by_build_id) {
  const auto whole = build("signatures.c", "-g");
  const module names(whole);
  const auto directory = work_directory() / "debug";
  const auto place = directory / ".build-id" / names.build_id.substr(0, 2);
  std::filesystem::create_directories(place);
  const auto split = place / (names.build_id.substr(2) + ".debug");
  output_of("objcopy --only-keep-debug " + whole.string() + " " + split.string());
  const module bare(changed(whole, "strip @"));
  const debug_info d(bare, directory);
  EXPECT_EQ(d.path, split);
  expect_c(bare, names, d);
  EXPECT_EQ(debug_info(bare, "/nowhere").size(), 0u);
  // Of another build.
  output_of("objcopy --only-keep-debug " + build("signatures.c", "-g -O0").string() + " " + split.string());
  EXPECT_EQ(debug_info(bare, directory).size(), 0u);
  std::filesystem::resize_file(split, 1000);
  EXPECT_EQ(debug_info(bare, directory).size(), 0u);
}

TEST(debug_info, may_be_damaged) {
  for (const char *flags : {"-g", "-g -gdwarf-4"}) {
    const auto original = read_bytes(build("signatures.c", flags));
    const module m("whole", original);
    std::vector<section> where;
    for (const section &s : m.sections)
      if (s.name.starts_with(".debug_"))
        where.push_back(s);
    ASSERT_FALSE(where.empty());
    std::mt19937 random(1);
    std::size_t found = 0;
    for (int i = 0; i != 1000; ++i) {
      auto bytes = original;
      const section &s = where[random() % where.size()];
      for (int k = 0; k != 4; ++k)
        bytes[s.offset + random() % s.size] = static_cast<std::uint8_t>(random() % 3 != 0 ? random() : 0xff);
      const module mutant("mutant", bytes);
      found += debug_info(mutant, "/nowhere").size();
    }
    EXPECT_GT(found, 1000u);
  }
}
