// Stacks: from any address within, the bits lead to the top; lists and the pool keep what they are given.
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

class stacks : public testing::Test {
protected:
  void SetUp() override {
    os::fail_never();
    ASSERT_TRUE(the_area.open(area_bytes, 3));
  }
  void TearDown() override {
    os::fail_never();
    the_stacks.close();
    the_area.close();
  }
};

TEST_F(stacks, of_each_class_lead_to_their_top) {
  for (unsigned log2 = smallest_class_log2; log2 < smallest_class_log2 + stack_regions; ++log2) {
    const std::size_t size = std::size_t{1} << log2;
    for (int home = 0; home < 3; ++home) {
      std::size_t count = 3;
      auto *first = static_cast<char *>(the_area.carve(stack_region(log2), home, size, count));
      ASSERT_NE(first, nullptr);
      for (std::size_t i = 0; i < count; ++i) {
        char *const bottom = first + i * size;
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bottom) % size, 0U);
        auto *const top = reinterpret_cast<stack_top *>(bottom + size) - 1;
        for (std::size_t at = 0; at < size; at += at < 64 ? 1 : size / 64) {
          const auto sp = reinterpret_cast<std::uintptr_t>(bottom) + at;
          ASSERT_EQ(top_of(sp), top) << size << " bytes, at " << at;
          ASSERT_TRUE(on_stack(sp));
        }
        EXPECT_EQ(top_of(reinterpret_cast<std::uintptr_t>(bottom) + size - 1), top);
        EXPECT_EQ(stack_size_of(top), size);
        EXPECT_EQ(stack_bottom(top), reinterpret_cast<std::uintptr_t>(bottom));
        EXPECT_EQ(the_area.home_of(top), home);
      }
    }
  }
}

TEST_F(stacks, are_no_other_objects) {
  for (const region r : {region::descriptors, region::blocks, region::arrays}) {
    std::size_t count = 1;
    EXPECT_FALSE(on_stack(reinterpret_cast<std::uintptr_t>(the_area.carve(r, 0, 64, count))));
  }
  const int local = 0;
  EXPECT_FALSE(on_stack(reinterpret_cast<std::uintptr_t>(&local))) << "the kernel's stack";
}

TEST_F(stacks, of_the_run_are_found_by_one_mask) {
  ASSERT_TRUE(the_stacks.open(15, false));
  EXPECT_EQ(stack_last, (std::uintptr_t{1} << 15) - 1);
  stack_top *top = the_stacks.take(0);
  ASSERT_NE(top, nullptr);
  const auto sp = stack_bottom(top) + 100;
  EXPECT_EQ(reinterpret_cast<stack_top *>((sp | stack_last) + 1) - 1, top);
}

TEST_F(stacks, are_used_again_before_new_ones_are_made) {
  ASSERT_TRUE(the_stacks.open(16, false));
  EXPECT_EQ(the_stacks.allocated(), 0);
  stack_top *one = the_stacks.take(0);
  stack_top *two = the_stacks.take(1);
  EXPECT_EQ(the_stacks.allocated(), 2);
  EXPECT_NE(one, two);
  the_stacks.put(one);
  EXPECT_EQ(the_stacks.take(2), one) << "whoever asks";
  EXPECT_EQ(the_stacks.allocated(), 2);
}

TEST_F(stacks, of_a_list_past_its_bound_go_to_the_pool_by_half) {
  ASSERT_TRUE(the_stacks.open(14, false));
  stack_list list;
  ASSERT_TRUE(the_stacks.prepare(0, 500, list));
  EXPECT_EQ(list.count, 500);
  EXPECT_EQ(the_stacks.allocated(), 500);
  std::set<stack_top *> all;
  for (stack_top *top = list.head; top != nullptr; top = top->next)
    EXPECT_TRUE(all.insert(top).second);
  EXPECT_EQ(all.size(), 500U);

  // As a worker does: one given, and half of the list moves up when it is past the bound.
  stack_list local;
  long highest = 0;
  while (stack_top *top = list.pop()) {
    local.push(top);
    if (local.count > stack_pool::list_bound)
      the_stacks.trim(local);
    highest = std::max(highest, local.count);
  }
  EXPECT_LE(highest, stack_pool::list_bound);
  const long pooled = 500 - local.count;
  for (long i = 0; i < pooled; ++i)
    EXPECT_EQ(all.erase(the_stacks.take(0)), 1U) << "one of the pool's, once";
  while (stack_top *top = local.pop())
    EXPECT_EQ(all.erase(top), 1U);
  EXPECT_TRUE(all.empty());
  EXPECT_EQ(the_stacks.allocated(), 500);
  the_stacks.take(0);
  EXPECT_EQ(the_stacks.allocated(), 501) << "the pool was empty";
}

TEST_F(stacks, are_not_made_without_memory) {
  ASSERT_TRUE(the_stacks.open(16, false));
  os::fail_after(os::fail_kind::commit, 1, true);
  EXPECT_EQ(the_stacks.take(0), nullptr);
  stack_list list;
  EXPECT_FALSE(the_stacks.prepare(0, 3, list));
  EXPECT_EQ(list.count, 0);
  EXPECT_EQ(the_stacks.allocated(), 0);
  os::fail_never();
  EXPECT_TRUE(the_stacks.prepare(0, 3, list));
  EXPECT_EQ(list.count, 3);
}

// ---- Guard pages ------------------------------------------------------------------------------------------

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

TEST_F(stacks, have_a_guard_page_by_either_method) {
  for (const bool protect : {false, true}) {
    os::fails.advice_ignored = protect;
    ASSERT_TRUE(the_stacks.open(protect ? 15 : 16, true));
    if (the_stacks.guard_size() == 0)
      GTEST_SKIP() << "no method works here";
    EXPECT_EQ(the_stacks.guard_size(), os::page_size());
    EXPECT_EQ(the_stacks.allocated(), 1) << "the one on which the method was proved";
    for (int i = 0; i < 5; ++i) {
      stack_top *top = the_stacks.take(0);
      ASSERT_NE(top, nullptr);
      EXPECT_TRUE(faults(stack_bottom(top)));
      EXPECT_TRUE(faults(stack_bottom(top) + os::page_size() - 1));
      EXPECT_FALSE(faults(stack_bottom(top) + os::page_size()));
    }
    EXPECT_EQ(the_stacks.allocated(), 5);
    EXPECT_EQ(the_stacks.unguarded(), 0);
    the_stacks.close();
  }
}

TEST_F(stacks, without_guard_pages_are_counted) {
  ASSERT_TRUE(the_stacks.open(16, false));
  EXPECT_EQ(the_stacks.guard_size(), 0U);
  for (int i = 0; i < 5; ++i)
    the_stacks.take(0);
  EXPECT_EQ(the_stacks.unguarded(), 5);
  stack_top *top = the_stacks.take(0);
  EXPECT_FALSE(faults(stack_bottom(top)));
}

} // namespace
} // namespace nth::detail
