// Loops of threads: nth_spawn_n and nth_parallel_for. Each index is met once, whoever takes what.
#include "nth/loop.h"

#include "../support/reports.hpp"
#include "../support/runtime.hpp"
#include "../support/size.hpp"

#include <atomic>
#include <climits>
#include <memory>
#include <vector>

namespace nth::test {
namespace {

using param = std::tuple<nth_policy, int>;

class loops : public ::testing::TestWithParam<param> {
protected:
  [[nodiscard]] static nth_options chosen() {
    return options(std::get<1>(GetParam()), std::get<0>(GetParam()));
  }
  const watchdog guard{120};
};

INSTANTIATE_TEST_SUITE_P(all, loops,
                         ::testing::Combine(::testing::Values(NTH_POLICY_DSR, NTH_POLICY_LSA, NTH_POLICY_DOS),
                                            ::testing::Values(1, 2, 4, 8)));

class loops_of_several : public loops {}; // with a second worker at least

INSTANTIATE_TEST_SUITE_P(all, loops_of_several,
                         ::testing::Combine(::testing::Values(NTH_POLICY_DSR, NTH_POLICY_LSA, NTH_POLICY_DOS),
                                            ::testing::Values(2, 4, 8)));

struct visits {
  explicit visits(long n) : count(static_cast<std::size_t>(n)) {}
  std::vector<std::atomic<int>> count;
  long block_each = 0; // of so many, one yields

  void meet(long index) {
    ++count[static_cast<std::size_t>(index)];
    if (block_each != 0 && index % block_each == 0)
      nth_yield();
  }
  [[nodiscard]] bool once() const {
    for (const auto &one : count) {
      if (one != 1)
        return false;
    }
    return true;
  }
};

void meet_one(long index, void *shared) { static_cast<visits *>(shared)->meet(index); }
void meet_all(long first, long last, void *shared) {
  for (long i = first; i < last; ++i)
    static_cast<visits *>(shared)->meet(i);
}

TEST_P(loops, spawn_n_makes_each_thread_once) {
  const runtime up(chosen());
  for (const long n : {0L, 1L, 2L, 3L, 7L, 64L, 1000L, pick_size(5000, 100'000, 1'000'000)}) {
    for (const long block_each : {0L, 3L, 101L}) {
      if (block_each == 3 && n > 1000)
        continue;
      visits v(n);
      v.block_each = block_each;
      run([&] {
        nth_depadd(nth_self(), 2);
        ASSERT_EQ(nth_spawn_n(meet_one, n, &v, nth_self()), NTH_OK) << nth_last_error();
        nth_block();
        EXPECT_TRUE(v.once()) << n;
      });
    }
  }
}

TEST_P(loops, parallel_for_covers_the_range_once_by_each_schedule) {
  const runtime up(chosen());
  for (const nth_schedule schedule :
       {NTH_SCHEDULE_AUTO, NTH_SCHEDULE_EQUAL, NTH_SCHEDULE_GUIDED, NTH_SCHEDULE_FACTORING}) {
    for (const long n : {0L, 1L, 2L, 5L, 100L, 1001L, pick_size(3000, 50'000, 1'000'000)}) {
      for (const long grain : {0L, 1L, 7L, LONG_MAX}) {
        visits v(n);
        v.block_each = n == 1001 ? 10 : 0;
        run([&] {
          EXPECT_EQ(nth_parallel_for(0, n, meet_all, &v, schedule, grain), NTH_OK) << nth_last_error();
        });
        EXPECT_TRUE(v.once()) << n << " by schedule " << schedule << ", grain " << grain;
      }
    }
  }
}

struct sizes {
  std::atomic<long> smallest{LONG_MAX};
  std::atomic<long> pieces{0};
};

void note_size(long first, long last, void *shared) {
  auto *s = static_cast<sizes *>(shared);
  ++s->pieces;
  long before = s->smallest;
  while (last - first < before && !s->smallest.compare_exchange_weak(before, last - first))
    continue;
  if (first % 3 == 0)
    nth_yield();
}

TEST_P(loops, keep_to_the_grain) {
  const runtime up(chosen());
  for (const long grain : {10L, 100L, 1000L}) {
    for (const long n : {grain, grain + 1, 2 * grain - 1, 2 * grain, 20 * grain + 3}) {
      sizes s;
      run([&] { EXPECT_EQ(nth_parallel_for(0, n, note_size, &s, NTH_SCHEDULE_AUTO, grain), NTH_OK); });
      EXPECT_GE(s.smallest, grain) << n << " indices in " << s.pieces << " pieces";
    }
  }
}

// The most that one loop may have, in pieces that are soon called.
void measure_piece(long first, long last, void *shared) {
  if (first >= 0 && first < last)
    *static_cast<std::atomic<long> *>(shared) += last - first;
}

TEST_P(loops, the_longest_range) {
  const runtime up(chosen());
  for (long i = pick_size(100, 1000, 10'000); i > 0; --i) {
    std::atomic<long> met{0};
    run([&] {
      EXPECT_EQ(
          nth_parallel_for(0, LONG_MAX, measure_piece, &met, static_cast<nth_schedule>(i % 4), 1L << 58),
          NTH_OK);
    });
    ASSERT_EQ(met, LONG_MAX);
  }
}

struct nest {
  long inner;
  std::atomic<long> sum{0};
};

void inner_piece(long first, long last, void *shared) {
  auto *n = static_cast<nest *>(shared);
  for (long i = first; i < last; ++i)
    n->sum += i;
}

void outer_piece(long first, long last, void *shared) {
  auto *n = static_cast<nest *>(shared);
  for (long i = first; i < last; ++i)
    EXPECT_EQ(nth_parallel_for(0, n->inner, inner_piece, n, static_cast<nth_schedule>(i % 4), 0), NTH_OK);
}

TEST_P(loops, nest) {
  const runtime up(chosen());
  nest n{pick_size(100, 1000, 10'000)};
  run([&] { EXPECT_EQ(nth_parallel_for(0, 50, outer_piece, &n, NTH_SCHEDULE_AUTO, 0), NTH_OK); });
  EXPECT_EQ(n.sum, 50 * (n.inner * (n.inner - 1) / 2));
}

// All of a loop's threads wait for the last one: each must have got its turn although the others are blocked.
struct gathering {
  long expected;
  std::atomic<long> arrived{0};
};

void gather(long /*index*/, void *shared) {
  auto *g = static_cast<gathering *>(shared);
  ++g->arrived;
  while (g->arrived < g->expected)
    nth_yield();
}

TEST_P(loops, any_of_the_threads_may_block) {
  const runtime up(chosen());
  gathering g{pick_size(100, 500, 5000)};
  run([&] {
    nth_depadd(nth_self(), 2);
    ASSERT_EQ(nth_spawn_n(gather, g.expected, &g, nth_self()), NTH_OK);
    nth_block();
  });
  EXPECT_EQ(g.arrived, g.expected);
}

// Work conserving: the first call that begins makes no call of the library until all others have ended.
void first_waits(long /*index*/, void *shared) {
  auto *g = static_cast<gathering *>(shared);
  if (g->arrived++ != 0)
    return;
  while (g->arrived < g->expected)
    continue;
}

TEST_P(loops_of_several, what_is_left_of_a_loop_is_taken_from_a_call_that_only_computes) {
  const runtime up(chosen());
  for (const long n : {2L, 3L, 100L}) {
    gathering g{n};
    run([&] {
      nth_depadd(nth_self(), 2);
      ASSERT_EQ(nth_spawn_n(first_waits, n, &g, nth_self()), NTH_OK);
      nth_block();
    });
    EXPECT_EQ(g.arrived, n);
  }
}

void first_piece_waits(long first, long last, void *shared) {
  for (long i = first; i < last; ++i)
    first_waits(i, shared);
}

TEST_P(loops_of_several, so_it_is_with_a_counter) {
  const runtime up(chosen());
  for (const nth_schedule schedule : {NTH_SCHEDULE_GUIDED, NTH_SCHEDULE_FACTORING, NTH_SCHEDULE_AUTO}) {
    gathering g{2};
    run([&] { EXPECT_EQ(nth_parallel_for(0, 2, first_piece_waits, &g, schedule, 1), NTH_OK); });
    EXPECT_EQ(g.arrived, 2);
  }
}

void gather_pieces(long first, long last, void *shared) {
  for (long i = first; i < last; ++i)
    gather(i, shared);
}

TEST_P(loops, bodies_may_block_in_each_schedule_that_has_as_many_pieces) {
  const runtime up(chosen());
  for (const nth_schedule schedule : {NTH_SCHEDULE_AUTO, NTH_SCHEDULE_GUIDED, NTH_SCHEDULE_FACTORING}) {
    if (schedule == NTH_SCHEDULE_GUIDED && std::get<1>(GetParam()) == 1)
      continue; // one piece
    gathering g{2};
    run([&] { EXPECT_EQ(nth_parallel_for(0, 2, gather_pieces, &g, schedule, 1), NTH_OK); });
    EXPECT_EQ(g.arrived, g.expected);
  }
}

TEST_P(loops, leave_nothing_behind) {
  const runtime up(chosen());
  visits v(1000);
  v.block_each = 7;
  run([&] {
    nth_depadd(nth_self(), 2);
    ASSERT_EQ(nth_spawn_n(meet_one, 1000, &v, nth_self()), NTH_OK);
    nth_block();
  });
  spin_until([] {
    nth_stats s;
    EXPECT_EQ(nth_get_stats(&s), NTH_OK);
    return s.descriptors.in_use == 0;
  });
}

TEST(loop, of_a_billion_threads_has_few_descriptors) {
  const watchdog guard(120);
  const runtime up(2);
  const long n = pick_size(100'000, 100'000'000, 1'000'000'000);
  std::atomic<long> *const odd = std::make_unique<std::atomic<long>>(0).release();
  const auto body = +[](long index, void *shared) {
    if (index % 1'000'000 == 0)
      ++*static_cast<std::atomic<long> *>(shared);
  };
  run([&] {
    nth_depadd(nth_self(), 2);
    ASSERT_EQ(nth_spawn_n(body, n, odd, nth_self()), NTH_OK);
    nth_block();
  });
  EXPECT_EQ(*odd, (n + 999'999) / 1'000'000);
  delete odd;
  nth_counters c;
  ASSERT_EQ(nth_get_counters(&c), NTH_OK);
  EXPECT_LT(c.descriptors, 10'000);
}

TEST(loop, from_a_kernel_thread_outside) {
  const watchdog guard;
  const runtime up(2);
  visits v(1000);
  EXPECT_EQ(nth_parallel_for(0, 1000, meet_all, &v, NTH_SCHEDULE_AUTO, 0), NTH_OK);
  EXPECT_TRUE(v.once());
  for (const long n : {0L, 1000L}) {
    visits u(n);
    nth_desc *self = nth_attach();
    ASSERT_NE(self, nullptr);
    nth_depadd(self, 2);
    EXPECT_EQ(nth_spawn_n(meet_one, n, &u, self), NTH_OK);
    nth_block();
    EXPECT_TRUE(u.once());
    EXPECT_EQ(nth_detach(), NTH_OK);
  }
}

TEST(loop, mistakes_are_named) {
  volatile int unknown = 4;
  EXPECT_EQ(nth_spawn_n(meet_one, 1, nullptr, nullptr), NTH_ESTATE);
  EXPECT_EQ(nth_parallel_for(0, 1, meet_all, nullptr, NTH_SCHEDULE_AUTO, 0), NTH_ESTATE);
  const runtime up(1);
  EXPECT_EQ(nth_spawn_n(nullptr, 1, nullptr, nullptr), NTH_EINVAL);
  EXPECT_EQ(nth_spawn_n(meet_one, -1, nullptr, nullptr), NTH_EINVAL);
  EXPECT_EQ(nth_parallel_for(0, 1, nullptr, nullptr, NTH_SCHEDULE_AUTO, 0), NTH_EINVAL);
  EXPECT_EQ(nth_parallel_for(1, 0, meet_all, nullptr, NTH_SCHEDULE_AUTO, 0), NTH_EINVAL);
  EXPECT_EQ(nth_parallel_for(0, 1, meet_all, nullptr, NTH_SCHEDULE_AUTO, -1), NTH_EINVAL);
  EXPECT_EQ(nth_parallel_for(0, 1, meet_all, nullptr, static_cast<nth_schedule>(unknown), 0), NTH_EINVAL);
  EXPECT_EQ(nth_parallel_for(LONG_MIN, LONG_MAX, meet_all, nullptr, NTH_SCHEDULE_AUTO, 0), NTH_EINVAL);
  EXPECT_NE(std::string(nth_last_error()).find("LONG_MAX"), std::string::npos);
}

} // namespace
} // namespace nth::test
