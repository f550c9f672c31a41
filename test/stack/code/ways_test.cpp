// Ways through code that are easily missed: each leads to a call that must be found.
#include "scanned_module.hpp"

#include <algorithm>
#include <gtest/gtest.h>

namespace nth::stack {
namespace {

class ways : public testing::TestWithParam<const char *> {
protected:
  [[nodiscard]] const function_facts &of(std::string_view name) const {
    static const function_facts none;
    const function_facts *f = m_.of(name);
    EXPECT_NE(f, nullptr) << name;
    return f != nullptr ? *f : none;
  }
  // -1: there is no such call.
  [[nodiscard]] std::int64_t depth_of_call(std::string_view caller, std::string_view callee) const {
    for (const call_site &c : of(caller).calls)
      if (c.target != 0 && c.target == m_.entry_of(callee))
        return c.depth;
    return -1;
  }

  scanned_module m_{std::string(SUBJECTS "/") + GetParam()};
};

class written_ways : public ways {};
class compiled_ways : public ways {};

TEST_P(written_ways, a_table_goes_on_behind_a_hole) {
  for (const char *name : {"table_with_hole", "absolute_table_with_hole"}) {
    EXPECT_EQ(depth_of_call(name, "callee"), 0x90) << name;
    EXPECT_EQ(of(name).frame, 0x90) << name;
    EXPECT_EQ(of(name).bound, frame_bound::exact) << name;
  }
}

TEST_P(written_ways, labels_that_code_makes_are_followed) {
  for (const char *name : {"labels_on_stack", "labels_as_immediates", "label_behind_pointer"}) {
    if (m_.of(name) == nullptr)
      continue; // only where addresses are fixed
    EXPECT_EQ(depth_of_call(name, "callee"), 0x90) << name;
    EXPECT_EQ(of(name).frame, 0x90) << name;
  }
}

TEST_P(written_ways, a_table_whose_base_a_call_keeps_is_followed) {
  EXPECT_EQ(depth_of_call("table_across_call", "other_callee"), 0x90);
  EXPECT_EQ(of("table_across_call").frame, 0x90);
}

TEST_P(written_ways, a_distance_from_a_label_leads_anywhere) {
  EXPECT_EQ(of("distance_from_label").bound, frame_bound::unbounded);
  EXPECT_EQ(of("distance_from_label").reason, no_bound::unknown_jump);
}

TEST_P(written_ways, a_call_before_a_second_entry_returns) {
  const function_facts &f = of("first_entry");
  EXPECT_TRUE(f.returns);
  ASSERT_EQ(f.calls.size(), 2U);
  EXPECT_TRUE(f.calls[0].returns);
  EXPECT_EQ(f.calls[1].kind, call_kind::tail);
  EXPECT_EQ(f.calls[1].target, m_.entry_of("second_entry"));
  EXPECT_EQ(f.calls[1].depth, 8);
}

TEST_P(written_ways, arguments_that_the_callee_pops_are_gone) {
  const function_facts &f = of("pushes_two");
  EXPECT_EQ(of("pops_two").pops, 16);
  EXPECT_EQ(of("pops_two").bound, frame_bound::exact);
  EXPECT_EQ(f.bound, frame_bound::exact);
  EXPECT_EQ(f.frame, 24);
  EXPECT_EQ(f.pops, 0);
  ASSERT_EQ(f.calls.size(), 2U); // ret is no jump to what was pushed
  EXPECT_EQ(f.calls[0].depth, 24);
  EXPECT_EQ(f.calls[1].depth, 16);
}

TEST_P(written_ways, what_pops_for_unknown_callers_has_no_bound) {
  for (const char *name : {"pops_for_all", "pops_at_times"}) {
    EXPECT_EQ(of(name).bound, frame_bound::unbounded) << name;
    EXPECT_EQ(of(name).reason, no_bound::pops_arguments) << name;
  }
}

TEST_P(written_ways, a_name_does_not_outweigh_code_that_returns) {
  EXPECT_TRUE(of("siglongjmp").returns);
  EXPECT_EQ(depth_of_call("calls_by_bad_name", "callee"), 0x110);
}

TEST_P(compiled_ways, all_cases_are_found) {
  for (const char *callee : {"case_0", "case_1", "case_2", "case_3", "case_5", "case_7", "after_holes"})
    EXPECT_GE(depth_of_call("no_default", callee), 0) << callee;
  for (const char *callee : {"case_0", "after_holes"})
    EXPECT_GE(depth_of_call("local_labels", callee), 0) << callee;
  EXPECT_NE(of("no_default").bound, frame_bound::unbounded);
}

constexpr auto name_of = [](const auto &each) { return std::string(each.param); };

std::vector<const char *> those_there(std::initializer_list<const char *> all) {
  std::vector<const char *> there;
  std::copy_if(all.begin(), all.end(), std::back_inserter(there),
               [](const char *name) { return std::filesystem::exists(std::string(SUBJECTS "/") + name); });
  return there;
}

INSTANTIATE_TEST_SUITE_P(linked, written_ways,
                         testing::ValuesIn(those_there({"ways", "ways_shared", "ways_clang"})), name_of);
INSTANTIATE_TEST_SUITE_P(linked, compiled_ways,
                         testing::ValuesIn(those_there({"switches_gcc", "switches_gcc_fixed",
                                                        "switches_clang", "switches_clang_fixed"})),
                         name_of);

} // namespace
} // namespace nth::stack
