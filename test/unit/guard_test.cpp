// Guard pages of stacks: by each method, and over what becomes of a stack.
#include "../support/size.hpp"
#include "memory/stack.hpp"
#include "os/os.hpp"
#include "os/os_failing.hpp"

#include <gtest/gtest.h>

#include <csetjmp>
#include <csignal>
#include <set>
#include <vector>

namespace nth::detail {
namespace {

constexpr std::size_t area_bytes = std::size_t{64} << 30;
constexpr thresholds usual = {64, 256, 1024};

sigjmp_buf fault;
void caught(int) { siglongjmp(fault, 1); }

__attribute__((no_sanitize("address", "thread"))) bool faults(std::uintptr_t address) {
  struct sigaction action = {};
  struct sigaction before = {};
  action.sa_handler = caught;
  sigaction(SIGSEGV, &action, &before);
  volatile bool result = true;
  if (sigsetjmp(fault, 1) == 0) {
    *reinterpret_cast<volatile char *>(address) = 1;
    result = false;
  }
  sigaction(SIGSEGV, &before, nullptr);
  return result;
}

class guards : public testing::TestWithParam<bool> {
protected:
  void SetUp() override {
    os::fail_never();
    ASSERT_TRUE(the_area.open(area_bytes, 3));
    os::fails.advice_ignored = GetParam();
  }
  void TearDown() override {
    os::fail_never();
    the_stacks.close();
    the_area.close();
  }
  static stack_top *take(stack_list &list, unsigned r) {
    stack_top *top = list.pop();
    return top != nullptr ? top : the_stacks.refill(r, 0, list);
  }
  static stack_top *take(stack_list &list) { return take(list, the_stacks.region()); }
  static void give(stack_list &list, stack_top *top) {
    const unsigned r = region_of_stack(top);
    while (!list.push(top, the_stacks.half(r)))
      the_stacks.lift(r, list, 0);
  }
  static void expect_guarded(const stack_top *top) {
    EXPECT_TRUE(faults(stack_bottom(top)));
    EXPECT_TRUE(faults(stack_bottom(top) + os::page_size() - 1));
    EXPECT_FALSE(faults(stack_bottom(top) + os::page_size()));
    EXPECT_FALSE(faults(reinterpret_cast<std::uintptr_t>(top) - 1));
  }
};

INSTANTIATE_TEST_SUITE_P(by, guards, testing::Bool(),
                         [](const auto &one) { return one.param ? "protection" : "advice"; });

TEST_P(guards, lie_below_each_stack) {
  ASSERT_TRUE(the_stacks.open(16, true, usual, 1, 2));
  if (the_stacks.guard_size() == 0)
    GTEST_SKIP() << "no method works here";
  EXPECT_EQ(the_stacks.guard_size(), os::page_size());
  EXPECT_EQ(the_stacks.allocated(), 1) << "the one on which the method was proved";
  EXPECT_EQ(the_stacks.count(the_stacks.region()).at_nodes, 1);
  stack_list list;
  for (int i = 0; i < 5; ++i) {
    stack_top *top = take(list);
    ASSERT_NE(top, nullptr);
    expect_guarded(top);
  }
  EXPECT_EQ(the_stacks.allocated(), 5);
  EXPECT_EQ(the_stacks.unguarded(), 0);
}

TEST_P(guards, are_for_stacks_of_16_KiB_and_more) {
  ASSERT_TRUE(the_stacks.open(14, true, usual, 1, 2));
  if (the_stacks.guard_size() == 0)
    GTEST_SKIP() << "no method works here";
  for (unsigned log2 = smallest_class_log2; log2 < smallest_class_log2 + stack_regions; ++log2) {
    stack_list list;
    stack_top *top = take(list, stack_region(log2));
    ASSERT_NE(top, nullptr);
    EXPECT_EQ(the_stacks.guard_size(stack_region(log2)), log2 < first_sparse_log2 ? 0 : os::page_size());
    if (log2 < first_sparse_log2)
      EXPECT_FALSE(faults(stack_bottom(top)));
    else
      expect_guarded(top);
  }
  EXPECT_EQ(the_stacks.unguarded(), 0) << "of those that should have one";
}

// A stack is given to the kernel and carved again: its guard page has stayed.
TEST_P(guards, outlive_what_the_stack_held) {
  for (const thresholds bounds : {thresholds{2, 0, 0}, thresholds{2, 0, 1000}}) {
    ASSERT_TRUE(the_stacks.open(15, true, bounds, 1, 2));
    if (the_stacks.guard_size() == 0)
      GTEST_SKIP() << "no method works here";
    const long calls = os::calls_made(os::fail_kind::guard);
    std::set<stack_top *> first;
    stack_list list;
    for (int i = 0; i < 20; ++i)
      first.insert(take(list));
    ASSERT_EQ(first.size(), 20U);
    EXPECT_LE(os::calls_made(os::fail_kind::guard) - calls, 20);
    const long later = os::calls_made(os::fail_kind::guard);
    for (int round = 0; round < 3; ++round) {
      for (stack_top *top : first)
        give(list, top);
      EXPECT_EQ(the_stacks.allocated(), list.count() + the_stacks.count(the_stacks.region()).in_global);
      for (std::size_t i = 0; i < first.size(); ++i) {
        stack_top *top = take(list);
        ASSERT_NE(top, nullptr);
        EXPECT_TRUE(first.count(top) == 1 || bounds.global != 0);
        expect_guarded(top);
        for (std::uintptr_t at = stack_bottom(top) + os::page_size();
             at < reinterpret_cast<std::uintptr_t>(top); at += os::page_size())
          EXPECT_FALSE(faults(at)) << "usable";
      }
    }
    EXPECT_EQ(os::calls_made(os::fail_kind::guard), later) << "none is made twice";
    EXPECT_EQ(the_stacks.unguarded(), 0);
    the_stacks.close();
    the_area.close();
    ASSERT_TRUE(the_area.open(area_bytes, 3));
  }
}

TEST_P(guards, that_are_refused_are_counted) {
  ASSERT_TRUE(the_stacks.open(16, true, usual, 1, 2));
  if (the_stacks.guard_size() == 0)
    GTEST_SKIP() << "no method works here";
  stack_list list;
  ASSERT_NE(take(list), nullptr); // which the method was proved on
  os::fail_after(os::fail_kind::guard, 2, false);
  stack_top *tops[] = {take(list), take(list), take(list)};
  expect_guarded(tops[0]);
  EXPECT_FALSE(faults(stack_bottom(tops[1]))) << "a stack all the same";
  expect_guarded(tops[2]);
  EXPECT_EQ(the_stacks.unguarded(), 1);
}

TEST_P(guards, that_are_not_wanted_are_counted) {
  ASSERT_TRUE(the_stacks.open(16, false, usual, 1, 2));
  EXPECT_EQ(the_stacks.guard_size(), 0U);
  EXPECT_EQ(the_stacks.allocated(), 0);
  stack_list list;
  std::vector<stack_top *> in_use;
  for (int i = 0; i < 5; ++i)
    in_use.push_back(take(list));
  EXPECT_EQ(the_stacks.unguarded(), 5);
  EXPECT_FALSE(faults(stack_bottom(in_use[0])));
  give(list, in_use[0]);
  take(list);
  EXPECT_EQ(the_stacks.unguarded(), 5) << "used again, counted once";
}

} // namespace
} // namespace nth::detail
