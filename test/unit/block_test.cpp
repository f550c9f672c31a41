// Blocks: the list of each worker, and the pools behind it.
#include "../support/resident.hpp"
#include "memory/area.hpp"
#include "memory/block.hpp"
#include "os/os.hpp"
#include "os/os_failing.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

namespace nth::detail {
namespace {

class blocks : public testing::Test {
protected:
  void SetUp() override {
    os::fail_never();
    ASSERT_TRUE(the_area.open(std::size_t{4} << 30, 2));
    the_blocks.open(1, 2);
  }
  void TearDown() override {
    os::fail_never();
    the_blocks.close();
    the_area.close();
  }
  // As a worker does.
  static block *take(block_list &list, int home) {
    block *b = list.pop();
    return b != nullptr ? b : the_blocks.refill(list, home);
  }
  static void give(block_list &list, block *b) {
    while (!list.push(b, block_memory::half))
      the_blocks.lift(list, 0);
  }
  static long carved() {
    return static_cast<long>(the_area.carved(static_cast<unsigned>(region::blocks)) / sizeof(block));
  }
  static long pooled() { return the_blocks.pools.at_nodes() + the_blocks.pools.in_global(); }
};

TEST_F(blocks, are_lines_with_room_to_look_below_the_first_slot) {
  static_assert(alignof(block) == 64 && sizeof(block) == 64 + block_size * sizeof(void *));
  block_list list;
  block *b = take(list, 1);
  ASSERT_NE(b, nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(b) % 64, 0U);
  EXPECT_EQ(the_area.home_of(b), 1);
}

TEST_F(blocks, are_given_once) {
  block_list lists[2];
  std::set<block *> all;
  for (int i = 0; i < 10'000; ++i) {
    block *b = take(lists[i % 2], i % 2);
    ASSERT_NE(b, nullptr);
    EXPECT_TRUE(all.insert(b).second);
  }
  EXPECT_LT(carved(), 10'000 + 100);
  EXPECT_EQ(carved(), 10'000 + lists[0].count() + lists[1].count());
}

TEST_F(blocks, past_a_bound_go_to_the_pool_and_come_back_to_anyone) {
  block_list giver;
  block_list taker;
  std::set<block *> all;
  while (all.size() < 1000)
    all.insert(take(giver, 0));
  while (block *left = giver.pop())
    all.insert(left);
  const long made = carved();
  EXPECT_EQ(static_cast<long>(all.size()), made);
  for (block *b : all) {
    give(giver, b);
    EXPECT_LE(giver.count(), block_memory::bounds.local);
  }
  EXPECT_EQ(pooled() + giver.count(), made);
  ASSERT_GT(pooled(), 0);
  while (pooled() + taker.count() > 0)
    EXPECT_EQ(all.erase(take(taker, 1)), 1U);
  EXPECT_EQ(static_cast<long>(all.size()), giver.count());
  EXPECT_EQ(carved(), made) << "nothing new while the pool has some";
  EXPECT_NE(take(taker, 1), nullptr);
  EXPECT_GT(carved(), made);
}

TEST_F(blocks, past_all_bounds_go_back_to_the_kernel) {
  constexpr thresholds bound = block_memory::bounds;
  constexpr long most = bound.local + bound.node + bound.global;
  constexpr long count = 3 * most;
  block_list list;
  std::set<block *> all;
  for (long i = 0; i < count; ++i) {
    block *b = take(list, 0);
    ASSERT_NE(b, nullptr);
    std::memset(static_cast<void *>(b), 1, sizeof *b);
    all.insert(b);
  }
  long in_use = count;
  for (block *b : all) { // upwards, so that the pages of those that go back are free of others
    give(list, b);
    --in_use;
    EXPECT_LE(list.count(), bound.local);
    EXPECT_LE(the_blocks.pools.at(0), bound.node);
    EXPECT_LE(the_blocks.pools.in_global(), bound.global);
    ASSERT_EQ(carved(), in_use + list.count() + pooled());
  }
  EXPECT_LE(carved(), most);
  if (nth::test::residency_is_known()) {
    const auto begin = reinterpret_cast<std::uintptr_t>(*all.begin());
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(block);
    EXPECT_LT(nth::test::resident_pages(begin, bytes), static_cast<long>(bytes / os::page_size()) * 3 / 4);
  }
  for (long i = 0; i < count; ++i)
    EXPECT_EQ(all.erase(take(list, 0)), 1U) << "released ones before fresh ones, each once";
}

TEST_F(blocks, are_not_made_without_memory) {
  block_list list;
  os::fail_after(os::fail_kind::commit, 1, true);
  EXPECT_EQ(the_blocks.refill(list, 0), nullptr);
  EXPECT_EQ(list.count(), 0);
  os::fail_never();
  EXPECT_NE(the_blocks.refill(list, 0), nullptr);
  EXPECT_GT(list.count(), 0);
}

} // namespace
} // namespace nth::detail
