// The order in which workers turn to each other for work, on invented machines: as it is computed, as the
// workers have it, and as it shows when threads are taken.
#include "thread/runtime.hpp"
#include "thread/victims.hpp"
#include "topology/topology.hpp"

#include "../support/invented_machine.hpp"
#include "../support/runtime.hpp"

#include <algorithm>
#include <atomic>
#include <set>
#include <vector>

using namespace nth::test;
using nth::detail::order_victims;
using nth::detail::the_runtime;
using nth::detail::worker;
namespace topology = nth::detail::topology;

namespace {

using numbers = std::vector<int>;
using groups = std::vector<numbers>;

groups split(const std::uint16_t *victims, const std::uint16_t *ends, int workers) {
  groups result;
  for (int at = 0; at < workers - 1;) {
    const int end = *ends++;
    result.emplace_back(victims + at, victims + end);
    at = end;
  }
  return result;
}

groups order_of(int id, int workers) {
  std::vector<std::uint16_t> victims(static_cast<std::size_t>(workers)), ends(victims.size());
  const int count = order_victims(id, workers, victims.data(), ends.data());
  const groups result = split(victims.data(), ends.data(), workers);
  EXPECT_EQ(static_cast<int>(result.size()), count);
  return result;
}

class victims : public testing::Test {
protected:
  void TearDown() override { topology::unload(); }
};

TEST_F(victims, are_those_of_the_own_node_then_all_others) {
  const invented machine("numa:8 core:2 pu:1");
  ASSERT_TRUE(topology::load(nullptr).machine_known);
  for (int id = 0; id < 16; ++id) {
    const int neighbour = id ^ 1;
    numbers others;
    for (int i = 0; i < 16; ++i)
      if (i / 2 != id / 2)
        others.push_back(i);
    EXPECT_EQ(order_of(id, 16), (groups{{neighbour}, others})) << id;
  }
  EXPECT_EQ(order_of(0, 3), (groups{{1}, {2}}));
  EXPECT_EQ(order_of(2, 3), (groups{{0, 1}})) << "nobody else is on its node";
  EXPECT_EQ(order_of(0, 1), (groups{}));
  EXPECT_EQ(order_of(16, 18).front(), (numbers{0, 1, 17})) << "places are given out again from the first";
}

TEST_F(victims, follow_the_placement) {
  const invented machine("numa:2 core:2 pu:1");
  EXPECT_STREQ(topology::load("scatter").wrong, "");
  EXPECT_EQ(order_of(0, 4), (groups{{2}, {1, 3}}));
  EXPECT_STREQ(topology::load("node:1,0").wrong, "");
  EXPECT_EQ(order_of(0, 3), (groups{{1}, {2}}));
}

TEST_F(victims, are_ordered_by_distance) {
  const ring_file file;
  const invented machine(file.path, "HWLOC_XMLFILE");
  ASSERT_TRUE(topology::load(nullptr).machine_known);
  EXPECT_EQ(order_of(0, 4), (groups{{1, 3}, {2}}));
  EXPECT_EQ(order_of(3, 8), (groups{{7}, {0, 2, 4, 6}, {1, 5}}));
}

TEST_F(victims, on_one_node_are_one_group) {
  const invented machine("core:4 pu:1");
  ASSERT_TRUE(topology::load(nullptr).machine_known);
  EXPECT_EQ(order_of(1, 4), (groups{{0, 2, 3}}));
  topology::unload();
  EXPECT_EQ(order_of(1, 4), (groups{{0, 2, 3}})) << "a machine that is not known";
}

TEST(workers, have_their_victims) {
  const invented machine("numa:8 core:2 pu:1");
  const runtime up(16);
  for (int i = 0; i < 16; ++i) {
    const worker *w = the_runtime.at(i);
    EXPECT_EQ(w->node, i / 2);
    EXPECT_EQ(split(w->victims, w->group_ends, 16), order_of(i, 16));
  }
}

TEST(workers, visit_each_other_once_group_by_group_from_a_random_one_on) {
  const invented machine("numa:2 core:4 pu:1");
  const runtime up(8);
  const worker *w = the_runtime.at(5);
  std::set<int> first;
  for (std::uint64_t random = 0; random < 12; ++random) {
    numbers seen;
    const auto look = [&seen](int id) noexcept {
      seen.push_back(id);
      return false;
    };
    EXPECT_FALSE(nth::detail::try_others(w, 8, random, look));
    ASSERT_EQ(seen.size(), 7U);
    first.insert(seen[0]);
    std::sort(seen.begin(), seen.begin() + 3);
    std::sort(seen.begin() + 3, seen.end());
    EXPECT_EQ(seen, (numbers{4, 6, 7, 0, 1, 2, 3}));
  }
  EXPECT_EQ(first, (std::set<int>{4, 6, 7}));

  int looks = 0;
  EXPECT_TRUE(nth::detail::try_others(w, 8, 1, [&looks](int id) noexcept {
    ++looks;
    return id < 4;
  }));
  EXPECT_EQ(looks, 4) << "the first of the far ones is taken";
}

TEST(workers, alone_visit_nobody) {
  const runtime up(1);
  EXPECT_FALSE(nth::detail::try_others(the_runtime.at(0), 1, 5, [](int) noexcept { return true; }));
}

// ---- Threads that are taken ------------------------------------------------------------------------------

class taken : public testing::TestWithParam<nth_policy> {};

// Two nodes of two workers. Each worker is held by a thread that spins, and all but worker 1 have blocks of
// threads to run. Worker 1 is let go: it takes those of worker 0, its neighbour, and only then others.
TEST_P(taken, from_the_own_node_first) {
  constexpr int workers = 4;
  constexpr int thief = 1, neighbour = 0;
  constexpr int blocks = 4; // of each worker; the last one stays in a window, to be had by asking only
  constexpr int each = blocks * 64;
  constexpr int all = (workers - 1) * each;

  const watchdog guard;
  const invented machine("numa:2 core:2 pu:1");
  const runtime up(workers, GetParam());
  const nth_counters before = counters();
  std::vector<int> origins(all, -1); // of the threads, in the order in which they run
  std::atomic<int> ran = 0, held = 0, ready = 0;
  struct piece {
    int origin;
    std::vector<int> *log;
    std::atomic<int> *ran;
    void operator()() { (*log)[static_cast<std::size_t>(ran->fetch_add(1))] = origin; }
  };
  std::vector<piece> pieces;
  for (int i = 0; i < workers; ++i)
    pieces.push_back({i, &origins, &ran});

  nth_desc *waiting = nullptr;
  auto hold = [&] { // it may have been taken to another worker than the one it was put to
    ++held;
    spin_until([&] { return held == workers; });
    const int here = nth_worker();
    for (int i = 0; i < each && here != thief; ++i)
      nth_to_lrq(here, create(pieces[static_cast<std::size_t>(here)], waiting));
    ++ready;
    spin_until([&] { return ready == workers; });
    if (here != thief)
      spin_until([&] { return ran == all; });
  };
  run([&] {
    waiting = nth_self();
    nth_depadd(waiting, workers + all + 1);
    for (int i = 0; i < workers; ++i)
      nth_to_lrq(i, create(hold, waiting));
    nth_block();
  });

  const auto far = std::find_if(origins.begin(), origins.end(), [](int o) { return o != neighbour; });
  EXPECT_GE(far - origins.begin(), (blocks - 1) * 64) << "whole blocks of the neighbour's were left";
  EXPECT_EQ(std::count(origins.begin(), origins.end(), neighbour), each);
  const nth_counters after = counters();
  const long steals = after.steals - before.steals;
  const long remote = after.steals_remote - before.steals_remote;
  EXPECT_GE(remote, 2 * (blocks - 1));
  EXPECT_GE(steals - remote, blocks - 1);
}

INSTANTIATE_TEST_SUITE_P(policies, taken, testing::ValuesIn(all_policies),
                         [](const auto &test) { return std::string(name_of(test.param)); });

TEST(steals, on_one_node_are_not_remote) {
  const invented machine("core:4 pu:1");
  const runtime up(4);
  std::atomic<int> ran = 0;
  auto one = [&] { ++ran; };
  for (int round = 0; round < 20; ++round) {
    run([&] {
      nth_depadd(nth_self(), 500 + 1);
      for (int i = 0; i < 500; ++i)
        nth_to_lrq(nth_worker(), create(one, nth_self()));
      nth_block();
    });
  }
  EXPECT_EQ(ran, 20 * 500);
  EXPECT_EQ(counters().steals_remote, 0);
}

} // namespace
