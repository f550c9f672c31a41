// Stacks: from any address within, the bits lead to the top; lists and pools keep what they are given, and
// no more than their bounds.
#include "../support/resident.hpp"
#include "memory/stack.hpp"
#include "os/os.hpp"
#include "os/os_failing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <vector>

namespace nth::detail {
namespace {

constexpr std::size_t area_bytes = std::size_t{64} << 30;
constexpr thresholds usual = {64, 256, 1024};

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
  static bool open(unsigned size_log2, thresholds bounds = usual, int workers = 2) {
    return the_stacks.open(size_log2, false, bounds, 1, workers);
  }
  // As a worker does.
  static stack_top *take(stack_list &list, unsigned r, int home = 0) {
    stack_top *top = list.pop();
    return top != nullptr ? top : the_stacks.refill(r, home, list);
  }
  static stack_top *take(stack_list &list) { return take(list, the_stacks.region()); }
  static void give(stack_list &list, stack_top *top) {
    const unsigned r = region_of_stack(top);
    while (!list.push(top, the_stacks.half(r)))
      the_stacks.lift(r, list, 0);
  }
  static stack_memory::numbers count() { return the_stacks.count(the_stacks.region()); }
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
    const std::size_t size = r == region::blocks ? block_bytes : 64;
    EXPECT_FALSE(on_stack(reinterpret_cast<std::uintptr_t>(the_area.carve(r, 0, size, count))));
  }
  const int local = 0;
  EXPECT_FALSE(on_stack(reinterpret_cast<std::uintptr_t>(&local))) << "the kernel's stack";
}

TEST_F(stacks, of_the_run_are_found_by_one_mask) {
  ASSERT_TRUE(open(15));
  EXPECT_EQ(stack_last, (std::uintptr_t{1} << 15) - 1);
  stack_list list;
  stack_top *top = take(list);
  ASSERT_NE(top, nullptr);
  const auto sp = stack_bottom(top) + 100;
  EXPECT_EQ(reinterpret_cast<stack_top *>((sp | stack_last) + 1) - 1, top);
}

TEST_F(stacks, begin_in_sixteen_places_of_a_page_that_are_aligned) {
  for (unsigned log2 = smallest_class_log2; log2 < smallest_class_log2 + stack_regions; ++log2) {
    const std::size_t size = std::size_t{1} << log2;
    std::size_t count = 64;
    auto *first = static_cast<char *>(the_area.carve(stack_region(log2), 1, size, count));
    ASSERT_NE(first, nullptr);
    std::set<std::uintptr_t> places;
    for (std::size_t i = 0; i < count; ++i) {
      auto *const top = reinterpret_cast<stack_top *>(first + (i + 1) * size) - 1;
      const auto frame = reinterpret_cast<std::uintptr_t>(first_frame(top));
      const auto end = reinterpret_cast<std::uintptr_t>(top);
      EXPECT_EQ(frame % 16, 0U) << "as the ABI has it at a call";
      ASSERT_LE(frame, end);
      EXPECT_LT(end - frame, 1024U);
      EXPECT_EQ(top_of(frame - 1), top);
      places.insert(end - frame);
    }
    EXPECT_EQ(places.size(), log2 < first_sparse_log2 ? 1U : 16U) << size << " bytes";
  }
}

// ---- Lists and pools ---------------------------------------------------------------------------------------

TEST_F(stacks, are_used_again_before_new_ones_are_made) {
  ASSERT_TRUE(open(16));
  EXPECT_EQ(the_stacks.allocated(), 0);
  stack_list lists[3];
  stack_top *one = the_stacks.refill(the_stacks.region(), 0, lists[0]);
  stack_top *two = the_stacks.refill(the_stacks.region(), 1, lists[1]);
  EXPECT_EQ(the_stacks.allocated(), 2);
  EXPECT_NE(one, two);
  EXPECT_EQ(the_area.home_of(two), 1);
  give(lists[0], one);
  EXPECT_EQ(take(lists[0]), one);
  chain<stack_top> up;
  up.push(one);
  the_stacks.put(the_stacks.region(), up, 0);
  EXPECT_EQ(count().at_nodes, 1);
  EXPECT_EQ(take(lists[2]), one) << "whoever asks";
  EXPECT_EQ(the_stacks.allocated(), 2);
  EXPECT_EQ(count().at_nodes, 0);
}

TEST_F(stacks, that_are_small_are_made_several_at_a_time_and_used_upwards) {
  ASSERT_TRUE(open(16));
  stack_list list;
  constexpr unsigned r = stack_region(9);
  stack_top *last = take(list, r);
  ASSERT_NE(last, nullptr);
  EXPECT_GT(list.count(), 0);
  for (long left = list.count(); left > 0; --left) {
    stack_top *next = take(list, r);
    EXPECT_EQ(reinterpret_cast<char *>(next), reinterpret_cast<char *>(last) + 512);
    last = next;
  }
  EXPECT_EQ(list.count(), 0);
  EXPECT_EQ(the_stacks.allocated(), the_stacks.count(r).allocated);
}

TEST_F(stacks, past_the_bounds_move_up_and_back_to_the_kernel) {
  constexpr thresholds few = {10, 20, 40};
  ASSERT_TRUE(open(14, few));
  const unsigned r = the_stacks.region();
  EXPECT_EQ(the_stacks.half(r), 5U);
  std::vector<stack_top *> in_use;
  stack_list list;
  for (int i = 0; i < 300; ++i) {
    in_use.push_back(take(list));
    ASSERT_NE(in_use.back(), nullptr);
  }
  EXPECT_EQ(std::set<stack_top *>(in_use.begin(), in_use.end()).size(), 300U);
  EXPECT_EQ(the_stacks.allocated(), 300);
  for (std::size_t i = 0; i < in_use.size(); ++i) {
    give(list, in_use[i]);
    const auto n = count();
    EXPECT_LE(list.count(), few.local);
    EXPECT_LE(n.at_nodes, few.node);
    EXPECT_LE(n.in_global, few.global);
    EXPECT_EQ(n.allocated, list.count() + n.at_nodes + n.in_global + static_cast<long>(299 - i));
    EXPECT_EQ(n.most, 300);
  }
  EXPECT_LE(the_stacks.allocated(), 70);
  EXPECT_EQ(the_stacks.most(), 300);
  // And again: each once, none that somebody has.
  std::set<stack_top *> again;
  for (int i = 0; i < 300; ++i) {
    stack_top *top = take(list);
    ASSERT_NE(top, nullptr);
    EXPECT_TRUE(again.insert(top).second);
  }
  EXPECT_EQ(again, std::set<stack_top *>(in_use.begin(), in_use.end())) << "released ones before fresh ones";
  EXPECT_EQ(the_stacks.allocated(), 300);
  EXPECT_EQ(the_stacks.most(), 300);
}

TEST_F(stacks, of_less_than_a_page_may_be_as_many_more) {
  ASSERT_TRUE(open(16, {64, 256, 1024}));
  for (unsigned log2 = smallest_class_log2; log2 < smallest_class_log2 + stack_regions; ++log2) {
    const thresholds &own = the_stacks.pools(stack_region(log2)).bounds();
    const long times = log2 < 12 ? 4096 >> log2 : 1;
    EXPECT_EQ(own.local, 64 * times) << log2;
    EXPECT_EQ(own.node, 256 * times) << log2;
    EXPECT_EQ(own.global, 1024 * times) << log2;
  }
  ASSERT_TRUE(open(14, {2, 0, 0}));
  EXPECT_EQ(the_stacks.pools(stack_region(20)).bounds().local, 2);
  EXPECT_EQ(the_stacks.pools(stack_region(8)).bounds().global, 0) << "nothing where nothing is wanted";
}

TEST_F(stacks, of_each_class_have_lists_of_their_own) {
  ASSERT_TRUE(open(14, {4, 8, 16}));
  for (const unsigned log2 : {8U, 12U, 14U, 17U, 20U}) {
    const unsigned r = stack_region(log2);
    stack_list list;
    std::vector<stack_top *> in_use;
    for (int i = 0; i < 100; ++i) {
      in_use.push_back(take(list, r));
      ASSERT_NE(in_use.back(), nullptr);
      EXPECT_EQ(region_of_stack(in_use.back()), r);
    }
    const thresholds &bound = the_stacks.pools(r).bounds();
    for (stack_top *top : in_use)
      give(list, top);
    const auto n = the_stacks.count(r);
    EXPECT_LE(list.count(), bound.local);
    EXPECT_LE(n.at_nodes, bound.node);
    EXPECT_LE(n.in_global, bound.global);
    EXPECT_EQ(n.allocated, list.count() + n.at_nodes + n.in_global);
  }
}

TEST_F(stacks, that_are_prepared_lie_in_the_list_and_above) {
  ASSERT_TRUE(open(14));
  stack_list list;
  ASSERT_TRUE(the_stacks.prepare(0, 200, list));
  EXPECT_EQ(the_stacks.allocated(), 200);
  EXPECT_LE(list.count(), usual.local);
  EXPECT_EQ(list.count() + count().at_nodes + count().in_global, 200);
  std::set<stack_top *> all;
  for (int i = 0; i < 200; ++i)
    EXPECT_TRUE(all.insert(take(list)).second);
  EXPECT_EQ(the_stacks.allocated(), 200);
  take(list);
  EXPECT_EQ(the_stacks.allocated(), 201) << "nothing was left";
}

TEST_F(stacks, are_not_made_without_memory) {
  ASSERT_TRUE(open(16));
  os::fail_after(os::fail_kind::commit, 1, true);
  stack_list list;
  EXPECT_EQ(take(list), nullptr);
  EXPECT_FALSE(the_stacks.prepare(0, 3, list));
  content holds{};
  EXPECT_EQ(the_stacks.carve(0, holds), nullptr);
  EXPECT_EQ(list.count(), 0);
  EXPECT_EQ(the_stacks.allocated(), 0);
  EXPECT_EQ(the_stacks.most(), 0);
  os::fail_never();
  EXPECT_TRUE(the_stacks.prepare(0, 3, list));
  EXPECT_EQ(list.count(), 3);
}

// ---- Pages --------------------------------------------------------------------------------------------------

void touch(const stack_top *top) {
  const std::uintptr_t low = stack_bottom(top) + the_stacks.guard_size(region_of_stack(top));
  std::memset(reinterpret_cast<void *>(low), 0x5a, reinterpret_cast<std::uintptr_t>(top) - low);
}
long pages_of(const stack_top *top) {
  return nth::test::resident_pages(stack_bottom(top), stack_size_of(top));
}

TEST_F(stacks, in_the_global_pool_keep_their_top_page) {
  if (!nth::test::residency_is_known())
    GTEST_SKIP() << "this kernel does not tell which pages are in memory";
  ASSERT_TRUE(the_stacks.open(16, true, {4, 8, 1000}, 1, 2));
  stack_list list;
  std::set<stack_top *> idle;
  std::vector<stack_top *> in_use;
  for (int i = 0; i < 60; ++i) {
    in_use.push_back(take(list));
    ASSERT_NE(in_use.back(), nullptr);
    touch(in_use.back());
    idle.insert(in_use.back());
  }
  const auto all_pages = static_cast<long>((std::size_t{1} << 16) / os::page_size());
  const long guards = the_stacks.guard_size() == 0 ? 0 : 1;
  for (const stack_top *top : in_use)
    ASSERT_GE(pages_of(top), all_pages - guards);
  for (stack_top *top : in_use)
    give(list, top);
  const long in_global = count().in_global;
  ASSERT_GT(in_global, 30);
  long cold = 0;
  for (const stack_top *top : in_use)
    cold += pages_of(top) <= 1 + guards;
  EXPECT_EQ(cold, in_global) << "these and no others";
  // They come back usable, and all other content is zeros.
  for (int i = 0; i < 60; ++i) {
    stack_top *top = take(list);
    ASSERT_EQ(idle.erase(top), 1U);
    touch(top);
  }
}

TEST_F(stacks, that_go_back_to_the_kernel_hold_no_memory) {
  if (!nth::test::residency_is_known())
    GTEST_SKIP() << "this kernel does not tell which pages are in memory";
  ASSERT_TRUE(open(15, {2, 0, 0}));
  stack_list list;
  std::vector<stack_top *> in_use;
  for (int i = 0; i < 20; ++i) {
    in_use.push_back(take(list));
    touch(in_use.back());
  }
  for (stack_top *top : in_use)
    give(list, top);
  EXPECT_EQ(the_stacks.allocated(), list.count());
  long held = 0;
  for (const stack_top *top : in_use)
    held += pages_of(top) != 0;
  EXPECT_EQ(held, list.count());
}

} // namespace
} // namespace nth::detail
