// Threads on stacks of their own class: chosen by the thread, by a table of needs, from 256 bytes on.
#include "../support/reports.hpp"
#include "../support/runtime.hpp"
#include "../support/size.hpp"
#include "nth/iso.h"
#include "stack_class.hpp"

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

using namespace nth::test;

namespace {

class classes : public testing::TestWithParam<std::tuple<nth_policy, int>> {
protected:
  static nth_options chosen() { return options(std::get<1>(GetParam()), std::get<0>(GetParam())); }
  const watchdog guard{120};
};

TEST_P(classes, a_thread_has_the_stack_that_was_asked_for) {
  const runtime up(chosen());
  for (long bytes = 16 << 10; bytes <= 1 << 20; bytes *= 2) {
    long low = 0;
    long high = 0;
    auto tells = [&] {
      void *lowest = nullptr;
      void *end = nullptr;
      ASSERT_EQ(nth_stack_bounds(&lowest, &end), NTH_OK);
      low = reinterpret_cast<long>(lowest);
      high = reinterpret_cast<long>(end);
      const char here = 0;
      EXPECT_GT(&here, static_cast<char *>(lowest));
      EXPECT_LT(&here, static_cast<char *>(end));
      nth_yield();
      EXPECT_EQ(nth_stack_bounds(nullptr, nullptr), NTH_OK);
    };
    run([&] {
      nth_depadd(nth_self(), 2);
      nth_desc *thread = create(tells, nth_self());
      ASSERT_EQ(nth_set_stack_size(thread, bytes / 2 + (8 << 10)), NTH_OK);
      ASSERT_EQ(nth_set_stack_size(thread, bytes), NTH_OK) << "the last one holds";
      nth_to_lrq(0, thread);
      nth_block();
    });
    EXPECT_LE(high - low, bytes);
    EXPECT_GE(high - low, bytes - 8192);
  }
}

TEST_P(classes, a_deep_root_fits_where_it_was_given_room) {
  const runtime up(chosen());
  auto deep = [] {
    volatile char room[800 << 10];
    for (std::size_t i = 0; i < sizeof room; i += 4096)
      room[i] = 1;
    nth_yield();
    EXPECT_EQ(room[4096], 1);
  };
  run([&] {
    nth_depadd(nth_self(), 9);
    for (int i = 0; i < 8; ++i) {
      nth_desc *thread = create(deep, nth_self());
      ASSERT_EQ(nth_set_stack_size(thread, 1 << 20), NTH_OK);
      nth_to_lrq(i % kthreads, thread);
    }
    nth_block();
  });
}

// All kinds of threads among one another: on the scheduler's stack, on small and on large stacks, which
// yield, block, create, and wake one another.
TEST_P(classes, mix) {
  const runtime up(chosen());
  long ended = 0;
  constexpr int rounds = 200;
  run([&] {
    for (int round = 0; round < rounds; ++round) {
      nth_depadd(nth_self(), 6);
      for (int i = 0; i < 5; ++i) {
        nth_desc *thread =
            nth_create_ls(i == 4 ? root(small_creates) : root(small_works), 0, nth_self(), 1, &ended);
        ASSERT_NE(thread, nullptr);
        if (i == 1) {
          ASSERT_EQ(nth_set_stack_need(thread, small_depth + 2 * NTH_CALL_STACK), NTH_OK) << nth_last_error();
        }
        if (i == 2) {
          ASSERT_EQ(nth_set_stack_need(thread, 3000), NTH_OK);
        }
        if (i >= 3) {
          ASSERT_EQ(nth_set_stack_size(thread, 128 << 10), NTH_OK);
        }
        nth_to_lrq((i + round) % kthreads, thread);
      }
      nth_block();
    }
  });
  EXPECT_EQ(__atomic_load_n(&ended, __ATOMIC_RELAXED), rounds * (5 + 3));
  const nth_stats s = stats();
  EXPECT_GT(s.stacks[class_of_bytes(128 << 10)].most, 0);
  EXPECT_GT(s.stacks[class_of_bytes(smallest > 4096 ? smallest : 4096)].most, 0);
}

TEST_P(classes, block_by_the_thousand_on_the_smallest_stacks) {
  const runtime up(chosen());
  const long count = pick_size(1000, 20'000, 100'000); // ThreadSanitizer knows 8,128 stacks at most
  long blocked = 0;
  std::vector<nth_handle_t> handles;
  run([&] {
    for (long i = 0; i < count; ++i) {
      nth_desc *thread = nth_create_ls(root(small_waits), 0, nullptr, 1, &blocked);
      ASSERT_NE(thread, nullptr);
      ASSERT_EQ(nth_set_stack_need(thread, small_depth + NTH_CALL_STACK), NTH_OK) << nth_last_error();
      handles.push_back(nth_handle(thread));
      nth_to_lrq_end(static_cast<int>(i % kthreads), thread);
      if (i % 64 == 0)
        nth_yield();
    }
    while (__atomic_load_n(&blocked, __ATOMIC_ACQUIRE) < count)
      nth_yield();
  });
  const int c = class_of_bytes(smallest);
  EXPECT_EQ(stats().stacks[c].in_use, count);
  run([&] {
    for (const nth_handle_t &one : handles)
      ASSERT_EQ(nth_unblock(one), NTH_OK);
    while (__atomic_load_n(&blocked, __ATOMIC_ACQUIRE) > 0)
      nth_yield();
  });
  spin_until([&] {
    const nth_stats s = stats();
    return s.stacks[c].in_use == 0 && s.stacks[c].allocated == s.stacks[c].worker + s.stacks[c].node +
                                                                   s.stacks[c].global + s.stacks[c].under_way;
  });
}

TEST_P(classes, calls_of_the_library_keep_to_what_they_are_said_to_take) {
  if (smallest > 256)
    GTEST_SKIP() << "frames of sanitizers, and of builds that are not optimised, are larger";
  const runtime up(chosen());
  long failed = 0;
  // Often, so that slow paths are met: empty and full blocks, requests of thieves.
  run([&] {
    for (int i = 0; i < 3000; ++i) {
      nth_depadd(nth_self(), 2);
      nth_desc *thread = nth_create_ls(root(small_calls), 0, nth_self(), 1, &failed);
      ASSERT_EQ(nth_set_stack_need(thread, 1900), NTH_OK);
      nth_to_lrq(i % kthreads, thread);
      nth_block();
    }
  });
  EXPECT_EQ(failed, 0) << "bytes that a call took at most";
}

TEST_P(classes, allocation_keeps_to_what_it_is_said_to_take) {
  if (smallest > 256)
    GTEST_SKIP() << "frames of sanitizers, and of builds that are not optimised, are larger";
  const runtime up(chosen());
  long failed = 0;
  run([&] {
    for (int i = 0; i < 300; ++i) {
      const reports told; // mistakes are made on purpose
      nth_depadd(nth_self(), 2);
      nth_desc *thread = nth_create_ls(root(small_allocates), 0, nth_self(), 1, &failed);
      ASSERT_EQ(nth_set_stack_need(thread, 1900), NTH_OK);
      nth_to_lrq(i % kthreads, thread);
      nth_block();
      EXPECT_EQ(told.count(), 1) << told.messages();
    }
  });
  EXPECT_EQ(failed, 0) << "bytes that a call took at most";
}

TEST_P(classes, small_ones_keep_blocks) {
  const runtime up(chosen());
  long wrong = 0;
  run([&] {
    nth_depadd(nth_self(), 501);
    for (int i = 0; i < 500; ++i) {
      nth_desc *thread = nth_create_ls(root(small_keeps), 0, nth_self(), 1, &wrong);
      ASSERT_EQ(nth_set_stack_need(thread, small_depth + 64 + NTH_CALL_STACK), NTH_OK);
      nth_to_lrq(i % kthreads, thread);
    }
    nth_block();
  });
  EXPECT_EQ(wrong, 0);
  nth_iso_stats s = {};
  spin_until([&] { return nth_get_iso_stats(&s) == NTH_OK && s.slots_taken == 0; });
}

INSTANTIATE_TEST_SUITE_P(runs, classes,
                         testing::Combine(testing::Values(NTH_POLICY_DSR, NTH_POLICY_LSA, NTH_POLICY_DOS),
                                          testing::Values(1, 2, 4)),
                         [](const auto &one) {
                           return std::string(name_of(std::get<0>(one.param))) +
                                  std::to_string(std::get<1>(one.param));
                         });

TEST(a_stack, is_refused_where_it_makes_no_sense) {
  const watchdog guard;
  const runtime up(1);
  EXPECT_EQ(nth_stack_bounds(nullptr, nullptr), NTH_ESTATE) << "a kernel thread";
  EXPECT_EQ(nth_set_stack_size(nullptr, 65536), NTH_EINVAL);
  EXPECT_EQ(nth_set_stack_need(nullptr, 100), NTH_EINVAL);
  run([&] {
    nth_depadd(nth_self(), 2);
    nth_desc *thread = nth_create_ls(small_plain, 0, nth_self(), 0);
    for (const long bytes : {-1L, 0L, 255L, 16383L, (1L << 20) + 1, 1L << 40}) {
      EXPECT_EQ(nth_set_stack_size(thread, bytes), NTH_EINVAL) << bytes;
      EXPECT_NE(std::strstr(nth_last_error(), "16384"), nullptr) << nth_last_error();
    }
    for (const long need : {-1L, 0L, 1L << 20, 1L << 40})
      EXPECT_EQ(nth_set_stack_need(thread, need), NTH_EINVAL) << need;
    nth_to_lrq(0, thread);
    EXPECT_EQ(nth_set_stack_size(thread, 65536), NTH_ESTATE);
    EXPECT_EQ(nth_set_stack_size(nth_self(), 65536), NTH_ESTATE);
    nth_block();
  });
}

} // namespace
