// Blocks: lists of each worker, and the pool between them.
#include "memory/area.hpp"
#include "memory/block.hpp"
#include "os/os_failing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace nth::detail {
namespace {

class blocks : public testing::Test {
protected:
  void SetUp() override {
    os::fail_never();
    ASSERT_TRUE(the_area.open(std::size_t{4} << 30, 2));
    the_blocks.open();
  }
  void TearDown() override {
    os::fail_never();
    the_area.close();
  }
  // As a worker does.
  block *take(block_list &list, int home) {
    return list.head == nullptr && !the_blocks.refill(list, home) ? nullptr : list.pop();
  }
  void give(block_list &list, block *b) {
    list.push(b);
    if (list.count > block_pool::list_bound)
      the_blocks.trim(list);
  }
  static long carved() {
    return static_cast<long>(
        (the_area.at(region::blocks, 0).carved() + the_area.at(region::blocks, 1).carved()) / sizeof(block));
  }
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
  block_list list;
  std::set<block *> all;
  for (int i = 0; i < 10'000; ++i) {
    block *b = take(list, i % 2);
    ASSERT_NE(b, nullptr);
    EXPECT_TRUE(all.insert(b).second);
  }
  EXPECT_LT(carved(), 10'000 + 100);
}

TEST_F(blocks, past_a_bound_go_to_the_pool_and_come_back_to_anyone) {
  block_list giver;
  block_list taker;
  std::set<block *> all;
  for (int i = 0; i < 2000; ++i)
    all.insert(take(giver, 0));
  while (block *left = giver.pop())
    all.insert(left);
  const long made = carved();
  EXPECT_EQ(static_cast<long>(all.size()), made);
  long highest = 0;
  for (block *b : all) {
    give(giver, b);
    highest = std::max(highest, giver.count);
  }
  EXPECT_LE(highest, block_pool::list_bound);
  const long pooled = made - giver.count;
  EXPECT_GT(pooled, 0);
  for (long i = 0; i < pooled; ++i)
    EXPECT_EQ(all.erase(take(taker, 1)), 1U);
  EXPECT_EQ(carved(), made) << "nothing new while the pool has some";
  EXPECT_NE(take(taker, 1), nullptr);
  EXPECT_GT(carved(), made);
}

TEST_F(blocks, lists_count_what_they_hold) {
  block_list list;
  EXPECT_EQ(list.pop(), nullptr);
  EXPECT_EQ(list.count, 0);
  block a;
  block b;
  list.push(&a);
  list.push(&b);
  EXPECT_EQ(list.count, 2);
  EXPECT_EQ(list.pop(), &b) << "the last first: its lines are in the cache";
  EXPECT_EQ(list.pop(), &a);
  EXPECT_EQ(list.count, 0);
}

TEST_F(blocks, are_not_made_without_memory) {
  block_list list;
  os::fail_after(os::fail_kind::commit, 1, true);
  EXPECT_FALSE(the_blocks.refill(list, 0));
  EXPECT_EQ(list.count, 0);
  os::fail_never();
  EXPECT_TRUE(the_blocks.refill(list, 0));
  EXPECT_GT(list.count, 0);
}

} // namespace
} // namespace nth::detail
