// Free lists in three stages: what a chain, a worker's list and the pools hold, and in which order it comes.
#include "free_list_objects.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace {

using namespace nth::test;

class free_lists : public testing::Test {
protected:
  void SetUp() override {
    kernel.clear();
    cooled = 0;
  }
  void TearDown() override { pools.close(); }
  pools_type pools;
};

// ---- A chain, and a worker's list ----------------------------------------------------------------------------

TEST_F(free_lists, a_chain_is_last_in_first_out_and_counts) {
  store all(3);
  chain<object> c;
  EXPECT_EQ(c.pop(), nullptr);
  EXPECT_EQ(c.count, 0U);
  std::vector<object *> in;
  for (int i = 0; i < 3; ++i) {
    in.push_back(all.make(0));
    c.push(in.back());
    EXPECT_EQ(c.count, in.size());
  }
  for (; !in.empty(); in.pop_back()) {
    EXPECT_EQ(c.pop(), in.back());
    EXPECT_EQ(c.count, in.size() - 1);
  }
  EXPECT_EQ(c.pop(), nullptr);
}

TEST_F(free_lists, a_list_refuses_what_exceeds_its_bound) {
  for (const std::uint32_t half : {1U, 2U, 7U, 64U}) {
    store all(std::size_t{2} * half + 1);
    local_list<object> list;
    EXPECT_EQ(list.pop(), nullptr);
    std::vector<object *> in;
    for (std::uint32_t i = 0; i < 2 * half; ++i) {
      in.push_back(all.make(0));
      ASSERT_TRUE(list.push(in.back(), half)) << i << " of " << 2 * half;
      EXPECT_EQ(list.count(), static_cast<long>(in.size()));
    }
    object *more = all.make(0);
    EXPECT_FALSE(list.push(more, half));
    EXPECT_FALSE(list.push(more, half)) << "still";
    EXPECT_EQ(list.count(), 2 * static_cast<long>(half)) << "refused is not taken";
    for (; !in.empty(); in.pop_back())
      EXPECT_EQ(list.pop(), in.back()) << "the last first: its lines are in the cache";
    EXPECT_EQ(list.pop(), nullptr);
    EXPECT_EQ(list.count(), 0);
  }
}

TEST_F(free_lists, the_older_half_of_a_full_list_moves) {
  constexpr std::uint32_t half = 4;
  store all(9);
  local_list<object> list;
  std::vector<object *> in;
  for (int i = 0; i < 8; ++i) {
    in.push_back(all.make(0));
    ASSERT_TRUE(list.push(in.back(), half));
  }
  chain<object> up = list.take_reserve();
  EXPECT_EQ(up.count, half);
  EXPECT_EQ(list.count(), half);
  std::set<object *> older(in.begin(), in.begin() + half);
  while (object *o = up.pop())
    EXPECT_EQ(older.erase(o), 1U);
  EXPECT_TRUE(older.empty());
  EXPECT_EQ(list.take_reserve().head, nullptr) << "once";
  EXPECT_TRUE(list.push(all.make(0), half)) << "there is room now";
  EXPECT_EQ(list.take_reserve().count, half);
  EXPECT_EQ(list.take_current().count, 1U);
  EXPECT_EQ(list.count(), 0);
  EXPECT_EQ(list.pop(), nullptr);
}

// A list near its bound does not go up and down with each object: half of it is exchanged at a time.
TEST_F(free_lists, a_list_at_its_bound_moves_a_chain_for_many_objects) {
  constexpr std::uint32_t half = 8;
  store all(200);
  local_list<object> list;
  long moves = 0;
  const auto give = [&](object *o) {
    while (!list.push(o, half)) {
      pools.put(list.take_reserve(), 0);
      ++moves;
    }
  };
  pools.open(1, 1, {2 * half, 1000, 1000}, release, nullptr);
  for (int i = 0; i < 16; ++i)
    give(all.make(0));
  for (int round = 0; round < 10; ++round) {
    object *one = all.make(0);
    give(one);
    EXPECT_EQ(list.pop(), one);
  }
  EXPECT_EQ(moves, 1);
  EXPECT_EQ(pools.at(0), half);
}

// ---- The pools' thresholds -----------------------------------------------------------------------------------

TEST_F(free_lists, half_of_a_full_pool_moves_up) {
  store all(100);
  pools.open(2, 4, {8, 16, 32}, release, cool);
  EXPECT_EQ(pools.half(), 4U);
  for (long n = 4; n <= 16; n += 4) {
    pools.put(all.make_chain(4, 1), 1);
    EXPECT_EQ(pools.at(1), n);
  }
  EXPECT_EQ(pools.in_global(), 0);
  EXPECT_EQ(cooled, 0);
  pools.put(all.make_chain(4, 1), 1); // 20: down to 8
  EXPECT_EQ(pools.at(1), 8);
  EXPECT_EQ(pools.at(0), 0);
  EXPECT_EQ(pools.in_global(), 12);
  EXPECT_EQ(cooled, 12) << "each that has moved";
  EXPECT_TRUE(kernel.empty());
  pools.put({}, 1);
  EXPECT_EQ(pools.at_nodes() + pools.in_global(), 20);
}

TEST_F(free_lists, of_a_full_global_pool_a_share_goes_back_to_the_kernel) {
  struct {
    int workers;
    std::size_t released; // in chains of 4
  } cases[] = {{1, 36}, {2, 20}, {4, 12}, {9, 4}, {16, 4}};
  for (const auto &one : cases) {
    kernel.clear();
    store all(100);
    pools.open(1, one.workers, {8, 0, 32}, release, nullptr);
    for (long n = 4; n <= 32; n += 4) {
      pools.put(all.make_chain(4), 0); // a node that keeps nothing
      EXPECT_EQ(pools.in_global(), n);
    }
    EXPECT_EQ(pools.at(0), 0);
    EXPECT_TRUE(kernel.empty());
    pools.put(all.make_chain(4), 0); // 36: excess 4, share 36 / workers
    EXPECT_EQ(kernel.size(), one.released) << one.workers << " workers";
    EXPECT_EQ(pools.in_global(), 36 - static_cast<long>(one.released));
    pools.close();
  }
}

TEST_F(free_lists, the_excess_goes_where_it_is_more_than_a_share) {
  store all(1000);
  pools.open(1, 100, {8, 0, 10}, release, nullptr);
  pools.put(all.make_chain(10), 0);
  EXPECT_EQ(pools.in_global(), 10);
  pools.put(all.make_chain(7), 0);
  EXPECT_LE(pools.in_global(), 10);
  EXPECT_GE(kernel.size(), 7U);
  EXPECT_EQ(pools.in_global() + static_cast<long>(kernel.size()), 17);
}

TEST_F(free_lists, own_objects_are_released_first) {
  store all(100);
  pools.open(3, 8, {8, 0, 16}, release, nullptr);
  for (const int node : {0, 1, 2, 0})
    pools.put(all.make_chain(4, node), node);
  ASSERT_EQ(pools.in_global(), 16);
  pools.put(all.make_chain(4, 2), 2);
  ASSERT_EQ(kernel.size(), 4U);
  for (const object *o : kernel)
    EXPECT_EQ(o->node, 2);
}

TEST_F(free_lists, pools_of_no_size_keep_nothing) {
  store all(100);
  pools.open(2, 2, {8, 0, 0}, release, nullptr);
  for (int i = 0; i < 10; ++i) {
    pools.put(all.make_chain(4, i % 2), i % 2);
    EXPECT_EQ(pools.at_nodes() + pools.in_global(), 0);
    EXPECT_EQ(kernel.size(), static_cast<std::size_t>(4 * (i + 1)));
  }
  EXPECT_EQ(pools.take(0).head, nullptr);
  kernel.clear();
  pools.open(2, 2, {8, 12, 0}, release, nullptr); // nothing between node and kernel
  for (int i = 0; i < 4; ++i)
    pools.put(all.make_chain(4), 0);
  EXPECT_EQ(pools.at(0), 4);
  EXPECT_EQ(kernel.size(), 12U);
}

TEST_F(free_lists, chains_longer_than_a_pool_pass_through_it) {
  store all(100);
  pools.open(1, 4, {8, 5, 20}, release, nullptr);
  pools.put(all.make_chain(9), 0);
  EXPECT_EQ(pools.at(0), 0);
  EXPECT_EQ(pools.in_global(), 9);
  pools.put(all.make_chain(21), 0);
  EXPECT_LE(pools.in_global(), 20);
  EXPECT_EQ(pools.in_global() + static_cast<long>(kernel.size()), 30);
}

TEST_F(free_lists, the_own_node_comes_first_then_its_part_of_the_global_pool_then_any) {
  store all(100);
  pools.open(3, 4, {8, 4, 100}, release, nullptr);
  for (int node = 0; node < 3; ++node) {
    pools.put(all.make_chain(4, node), node);
    pools.put(all.make_chain(3, node), node); // 7: one chain of 3, and then that of 4, move up
    ASSERT_EQ(pools.at(node), 0);
    pools.put(all.make_chain(2, node), node);
    ASSERT_EQ(pools.at(node), 2);
  }
  ASSERT_EQ(pools.in_global(), 21);
  const auto expect = [&](std::uint32_t count, int node) {
    chain<object> c = pools.take(1);
    EXPECT_EQ(c.count, count);
    std::uint32_t seen = 0;
    while (object *o = c.pop()) {
      EXPECT_EQ(o->node, node);
      ++seen;
    }
    EXPECT_EQ(seen, count) << "a chain's count is what it holds";
  };
  expect(2, 1);
  EXPECT_EQ(pools.in_global(), 21);
  const chain<object> from_global[] = {pools.take(1), pools.take(1)};
  EXPECT_EQ(from_global[0].count + from_global[1].count, 7U);
  EXPECT_EQ(from_global[0].head->node, 1);
  EXPECT_EQ(from_global[1].head->node, 1);
  EXPECT_EQ(pools.in_global(), 14);
  std::uint32_t rest = 0;
  for (chain<object> c = pools.take(1); c.head != nullptr; c = pools.take(1)) {
    EXPECT_NE(c.head->node, 1);
    rest += c.count;
  }
  EXPECT_EQ(rest, 14U);
  EXPECT_EQ(pools.at(0), 2) << "what other nodes keep for themselves stays there";
  EXPECT_EQ(pools.at(2), 2);
}

TEST_F(free_lists, a_walk_over_the_pools_meets_all_of_it_once) {
  store all(100);
  pools.open(2, 4, {8, 8, 100}, release, nullptr);
  std::set<const object *> idle;
  for (int i = 0; i < 10; ++i) {
    const chain<object> c = all.make_chain(static_cast<std::uint32_t>(1 + i % 4), i % 2);
    for (const object *o = c.head; o != nullptr; o = o->next)
      idle.insert(o);
    pools.put(c, i % 2);
  }
  long at_nodes = 0;
  long in_global = 0;
  const auto walk = [&](const object *first) {
    long n = 0;
    for (; first != nullptr; first = first->next_chain) {
      for (const object *o = first; o != nullptr; o = o->next) {
        EXPECT_EQ(idle.erase(o), 1U);
        ++n;
      }
    }
    return n;
  };
  pools.visit_chains([&](const object *at_node, const object *global) {
    at_nodes += walk(at_node);
    in_global += walk(global);
  });
  EXPECT_TRUE(idle.empty());
  EXPECT_EQ(at_nodes, pools.at_nodes());
  EXPECT_EQ(in_global, pools.in_global());
}

} // namespace
