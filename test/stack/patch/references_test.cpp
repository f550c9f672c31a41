// Each place that may hold the address of a function is found, and what is none is not.
#include "patch/references.hpp"

#include "image/subject.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace nth::stack::test {
namespace {

using kind = reference_kind;

constexpr const char *pie = "-nostdlib -nostartfiles -fPIE -pie -Wl,-e,entry -Wl,-z,now -Wl,-q ";
constexpr const char *fixed = "-DFIXED -nostdlib -nostartfiles -no-pie -Wl,-e,entry -Wl,-z,now -Wl,-q ";

class references : public testing::TestWithParam<std::string> {
protected:
  // Of a program linked with these flags.
  void link(const std::string &flags) {
    image = std::make_unique<module>(
        build("../../patch/subjects/references.S", flags + " -fuse-ld=" + GetParam()));
    const unwind_table u(*image);
    table = function_table(*image, u);
  }

  function_references of(const std::string &name) const {
    const std::uint32_t f = table.named(name);
    EXPECT_NE(f, no_function) << name;
    return find_references(*image, table, {table.functions[f].entry}).front();
  }

  // The kinds of places, sorted; and each must lead to the function.
  std::vector<kind> kinds(const std::string &name) const {
    const function_references r = of(name);
    EXPECT_EQ(r.obstacle, "") << name;
    std::vector<kind> all;
    for (const reference &each : r.places)
      all.push_back(each.kind);
    std::ranges::sort(all);
    return all;
  }

  std::unique_ptr<module> image;
  function_table table;
};

using list = std::vector<kind>;

TEST_P(references, of_position_independent_code) {
  link(pie);
  EXPECT_EQ(kinds("by_lea"), list{kind::code_relative});
  EXPECT_EQ(kinds("by_local_lea"), list{kind::code_relative});
  EXPECT_EQ(kinds("by_offset_table"), list{kind::code_relative}); // the linker makes a lea of it
  EXPECT_EQ(kinds("by_distance"), list{kind::data_relative});
  EXPECT_EQ(kinds("by_local_distance"), list{kind::data_relative});
  EXPECT_EQ(kinds("by_last_distance"), list{kind::data_relative});
  EXPECT_EQ(kinds("by_distance_from_itself"), list{kind::data_relative});
  for (const char *name : {"by_word", "by_local_word", "by_constant_word", "by_slot"}) {
    const list found = kinds(name);
    EXPECT_TRUE(std::ranges::count(found, kind::relocation_addend) == 1) << name;
  }
}

TEST_P(references, of_fixed_addresses) {
  link(fixed);
  EXPECT_EQ(kinds("by_lea"), list{kind::code_relative});
  // The linker makes mov $f or lea of it.
  EXPECT_EQ(kinds("by_offset_table"), list{GetParam() == "bfd" ? kind::code_absolute : kind::code_relative});
  for (const char *name :
       {"by_constant", "by_long_constant", "by_push", "by_compare", "by_store", "by_local_constant"})
    EXPECT_EQ(kinds(name), list{kind::code_absolute}) << name;
  for (const char *name : {"by_word", "by_local_word", "by_constant_word", "by_slot", "by_narrow_word"})
    EXPECT_EQ(kinds(name), list{kind::data_absolute}) << name;
  EXPECT_EQ(of("by_long_constant").places.front().size, 8);
  EXPECT_EQ(of("by_narrow_word").places.front().size, 4);
  EXPECT_EQ(kinds("by_two"), (list{kind::code_relative, kind::data_absolute}));
  EXPECT_EQ(kinds("by_local_distance"), list{kind::data_relative});
}

// gold has no --no-relax for these.
class references_unrelaxed : public references {};
TEST_P(references_unrelaxed, of_the_table_of_global_offsets) {
  link(std::string(fixed) + "-Wl,--no-relax");
  EXPECT_EQ(kinds("by_offset_table"), list{kind::data_absolute});
}

TEST_P(references, of_exported_functions) {
  link(std::string(pie) + "-rdynamic");
  const list found = kinds("by_call_alone");
  EXPECT_EQ(found, list{kind::exported});
}

// Nor has it packed relocations.
TEST_P(references_unrelaxed, that_are_packed) {
  link(std::string(pie) +
       (GetParam() == "lld" ? "-Wl,--pack-dyn-relocs=relr" : "-Wl,-z,pack-relative-relocs"));
  EXPECT_EQ(kinds("by_word"), list{kind::data_absolute});
  EXPECT_EQ(kinds("by_local_word"), list{kind::data_absolute});
}

TEST_P(references, are_not_calls_or_initializers) {
  for (const char *flags : {pie, fixed}) {
    link(flags);
    for (const char *name :
         {"by_call_alone", "by_jump_alone", "by_branch_alone", "by_initializer_alone", "not_by_constant"})
      EXPECT_EQ(kinds(name), list{}) << name;
  }
}

TEST_P(references, have_obstacles) {
  for (const char *flags : {pie, fixed}) {
    link(flags);
    EXPECT_NE(of("read_as_data").obstacle.find("is read as data"), std::string::npos);
    EXPECT_NE(of("used_in_the_middle").obstacle.find("some bytes from it"), std::string::npos);
    EXPECT_NE(of("word_in_the_middle").obstacle.find("some bytes from it"), std::string::npos);
    EXPECT_NE(of("near_what_is_no_code").obstacle.find("can't be decoded for sure"), std::string::npos);
  }
}

// Every address of a function that the file's own symbols tell is led to by what was found for it.
TEST_P(references, lead_to_their_function) {
  link(fixed);
  std::map<std::uint64_t, std::string> fields;
  for (const function &f : table.functions)
    for (const reference &r : of(f.symbol).places)
      EXPECT_TRUE(fields.emplace(r.field, f.symbol).second) << f.symbol << " and " << fields[r.field];
  EXPECT_GT(fields.size(), 18U);
}

INSTANTIATE_TEST_SUITE_P(linkers, references, testing::Values("bfd", "gold", "lld"));
INSTANTIATE_TEST_SUITE_P(linkers, references_unrelaxed, testing::Values("bfd", "lld"));

} // namespace
} // namespace nth::stack::test
