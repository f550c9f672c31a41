// Threads with many segments: deep, suspended, stolen, many of them; and what they leave.
#include "support.hpp"

#include "nth/spawn.h"

#include <atomic>
#include <memory>
#include <vector>

using namespace nth::test;
using nth::detail::stack_size_of;
using nth::detail::top_of;

namespace {

void descend(descent *d, long n, long *reached) { *reached = down(n, d); }

TEST(a_chain, of_segments_holds_a_million_calls) {
  const watchdog guard;
  for (const nth_policy policy : all_policies) {
    const runtime up(1, policy);
    descent d{};
    long reached = 0;
    run_small(1900, descend, &d, 1'000'000L, &reached);
    EXPECT_EQ(reached, 1'000'000);
    const nth_stats s = stats_now();
    EXPECT_GT(s.segments_most, 16 << 20);
    EXPECT_LT(s.segments_switched, 3000) << "further segments are large";
    EXPECT_EQ(s.segments_switched, s.segments_taken + s.segments_kept);
    expect_no_segments(1);
    run([&] { reached = down(500'000, &d); });
    EXPECT_EQ(reached, 500'000);
    expect_no_segments(1);
  }
}

TEST(a_chain, begins_on_512_bytes) {
  const watchdog guard;
  const runtime up(1);
  descent d{};
  long reached = 0;
  run_small(400, descend, &d, 1000L, &reached);
  EXPECT_EQ(reached, 1000);
}

// Yields at each level: threads go on, on segments, on whatever worker has stolen them.
TEST(a_chain, is_suspended_and_goes_on_elsewhere) {
  const watchdog guard;
  for (const nth_policy policy : all_policies) {
    for (const int workers : {1, 2, 8}) {
      SCOPED_TRACE(testing::Message() << name_of(policy) << ", " << workers << " workers");
      const runtime up(workers, policy);
      constexpr int width = 200;
      std::vector<descent> all(width);
      std::vector<long> reached(width);
      const auto root = [](descent *d, long n, long *to) {
        d->self = nth_self();
        *to = self_down(n, d);
      };
      run([&] {
        nth_depadd(nth_self(), width + 1);
        for (int i = 0; i < width; ++i) {
          descent &d = all[static_cast<std::size_t>(i)];
          d.turns = 3;
          nth_desc *t = nth_create_ls(reinterpret_cast<void (*)()>(+root), 0, nth_self(), 3, &d,
                                      200L + i % 50, &reached[static_cast<std::size_t>(i)]);
          if (i % 3 != 0) {
            ASSERT_EQ(nth_set_stack_need(t, i % 3 == 1 ? 1900 : 3900), NTH_OK) << nth_last_error();
          }
          nth_to_lrq_end(i % workers, t);
        }
        nth_block();
      });
      for (int i = 0; i < width; ++i) {
        EXPECT_EQ(reached[static_cast<std::size_t>(i)], 200 + i % 50);
        EXPECT_NE(all[static_cast<std::size_t>(i)].self, nullptr) << "nth_self changed";
      }
      EXPECT_GT(stats_now().segments_switched, width / 2);
      expect_no_segments(workers);
    }
  }
}

// All start at one worker: the others steal them, segments and all, and switch on and off theirs meanwhile.
// What has no bound leaves a segment that is much too large for the calls after it.
TEST(the_end_of_a_stack, is_passed_with_one_segment_after_a_large_one) {
  const watchdog guard;
  const runtime up(1);
  run_small(
      1900,
      +[](long turns) {
        call_with_room(
            500,
            +[](long *n) {
              stub_guarded();
              for (long i = 0; i < *n; ++i)
                stub_here();
            },
            &turns);
      },
      1000L);
  const nth_stats s = stats_now();
  EXPECT_GT(s.segments_switched, 1000);
  EXPECT_LT(s.segments_taken, 10);
}

std::atomic<long> moves, wrong_limits;

void wander(descent *) {
  int at = nth::detail::current_worker()->id;
  for (int i = 0; i < 50 || (moves < 20 && i < 1'000'000); ++i) { // the others may not have started yet
    nth_yield();
    const auto *w = nth::detail::current_worker();
    moves += w->id != at;
    at = w->id;
    wrong_limits += w->limits[0] != lowest_byte(top_of(here())) + 512 - 8;
    descent more{};
    wrong_limits += stub_down(20, &more) != 20;
  }
}

TEST(a_chain, moves_between_workers_that_steal) {
  const watchdog guard;
  for (const nth_policy policy : all_policies) {
    SCOPED_TRACE(name_of(policy));
    const runtime up(4, policy);
    moves = wrong_limits = 0;
    constexpr long width = 100;
    std::vector<long> reached(width);
    descent d{};
    d.deepest = wander;
    run([&] {
      nth_depadd(nth_self(), width + 1);
      for (long &one : reached) {
        nth_desc *t = nth_create_ls(reinterpret_cast<void (*)()>(descend), 0, nth_self(), 3, &d,
                                    30L + (&one - &reached[0]), &one);
        if ((&one - &reached[0]) % 2 == 0) {
          ASSERT_EQ(nth_set_stack_need(t, 1900), NTH_OK);
        }
        nth_to_lrq_end(0, t);
      }
      nth_block();
    });
    for (long i = 0; i < width; ++i)
      EXPECT_EQ(reached[static_cast<std::size_t>(i)], 30 + i);
    EXPECT_GT(moves, 10);
    EXPECT_EQ(wrong_limits, 0);
    if (has_small_stacks) {
      EXPECT_GT(stats_now().segments_switched, width);
    }
    expect_no_segments(4);
  }
}

// What nth_sync knows of the stack is that of the segment, after a suspension too.
TEST(a_chain, tells_a_spawn_which_stack_it_is_on) {
  const watchdog guard;
  const runtime up(1);
  descent d{};
  static long wrong;
  static std::size_t largest;
  wrong = 0;
  d.deepest = [](descent *) {
    const auto look = [] {
      const std::size_t size = stack_size_of(top_of(here()));
      wrong += reinterpret_cast<const nth_fork_watch *>(nth_tls_fork + 1)->mask != size - 1;
      largest = size > largest ? size : largest;
    };
    look();
    nth_yield();
    look();
  };
  long reached = 0;
  for (const long n : {1L, 20L, 60L, 100L, 200L, 400L, 1000L}) {
    run([&] {
      nth_depadd(nth_self(), 3);
      for (int i = 0; i < 2; ++i) {
        nth_desc *t = nth_create_ls(reinterpret_cast<void (*)()>(descend), 0, nth_self(), 3, &d, n, &reached);
        ASSERT_EQ(nth_set_stack_need(t, 1900), NTH_OK);
        nth_to_lrq_end(0, t);
      }
      nth_block();
    });
    EXPECT_EQ(wrong, 0) << n;
  }
  EXPECT_GT(largest, 8192U);
}

// A root whose call waits on a segment of its own.
void wait_at_the_edge(descent *d) { call_with_room(400, stub_wait, d); }

TEST(ten_thousand_threads, wait_on_a_segment_each) {
  const watchdog guard;
  for (const nth_policy policy : all_policies) {
    SCOPED_TRACE(name_of(policy));
    const runtime up(2, policy);
    constexpr long width = 10'000;
    std::vector<descent> all(width);
    std::vector<nth_handle_t> handles;
    run([&] {
      for (descent &d : all) {
        nth_desc *t = nth_create_ls(reinterpret_cast<void (*)()>(wait_at_the_edge), 0, nullptr, 1, &d);
        ASSERT_EQ(nth_set_stack_need(t, 900), NTH_OK);
        handles.push_back(nth_handle(t));
        nth_to_lrq_end(static_cast<int>(handles.size()) % 2, t);
      }
    });
    while (stats_now().segments_switched < width)
      usleep(1000);
    const nth_stats s = stats_now();
    long small = 0;
    for (const nth_object_stats &one : s.stacks)
      small += one.bytes <= size_for(1600) ? one.in_use : 0;
    EXPECT_GE(small, 2 * width) << "a first stack and a segment each";
    EXPECT_EQ(s.segments_most, size_for(1600));
    run([&] {
      for (const nth_handle_t &h : handles) {
        while (nth_unblock(h) != NTH_OK)
          nth_yield();
      }
    });
    expect_no_segments(2);
  }
}

// On the edge of a stack a loop calls through a stub: the segment is at hand.
TEST(a_hot_loop, on_an_edge_does_not_ask_the_lists) {
  const watchdog guard;
  const runtime up(1);
  struct {
    std::uintptr_t sum = 0;
  } r;
  constexpr long turns = 100'000;
  run_small(
      1900,
      +[](decltype(r) *to) {
        call_with_room(
            400,
            +[](decltype(r) *sum) {
              for (long i = 0; i < turns; ++i)
                sum->sum += stub_here();
            },
            to);
      },
      &r);
  const nth_stats s = stats_now();
  EXPECT_EQ(s.segments_switched, turns);
  EXPECT_LE(s.segments_taken, 2);
  expect_no_segments(1);
}

} // namespace
