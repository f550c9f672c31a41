// Batches: every call, order, other workers, kernel threads outside, and nothing lost. The bound on waiting threads
// and lacks of memory are in batch_bound_test.cpp.
#include "../support/message.hpp"
#include "../support/rest.hpp"
#include "batch_variadic.h"

#include <atomic>
#include <cerrno>
#include <climits>
#include <deque>
#include <random>
#include <set>
#include <tuple>
#include <vector>

using namespace nth::test;

namespace {

struct batch {
  nth_desc *first = nullptr;
  nth_desc *last = nullptr;
};

// n members, all initialised to run root(args…).
template <class R, class... A>
batch make(long n, nth_desc *succ, R *root, A... args) {
  batch b;
  b.first = nth_batch_get_desc(&b.last, n);
  EXPECT_EQ(b.first == nullptr, n == 0) << nth_last_error();
  for (nth_desc *t = b.first; t != nullptr; t = nth_batch_get_next(t))
    nth_batch_create_ls(t, root, 0, succ, static_cast<int>(sizeof...(A)), args...);
  return b;
}

void count_up(std::atomic<long> *count) { count->fetch_add(1, std::memory_order_relaxed); }

TEST(batch, get_desc_links_as_many_as_asked_for) {
  const watchdog guard;
  const runtime up(1);
  run([] {
    std::atomic<long> ran = 0;
    long all = 0;
    for (const long n : {1, 2, 8, 63, 64, 65, 100, 1000, 5000}) {
      nth_desc *last = nullptr;
      nth_desc *const first = nth_batch_get_desc(&last, n);
      ASSERT_NE(first, nullptr);
      std::set<nth_desc *> seen;
      nth_desc *at_end = nullptr;
      for (nth_desc *t = first; t != nullptr; t = nth_batch_get_next(t)) {
        EXPECT_TRUE(seen.insert(t).second);
        at_end = t;
      }
      EXPECT_EQ(static_cast<long>(seen.size()), n);
      EXPECT_EQ(at_end, last);
      nth_depadd(nth_self(), n + 1);
      for (nth_desc *t = first; t != nullptr; t = nth_batch_get_next(t))
        nth_batch_create_ls(t, count_up, 0, nth_self(), 1, &ran);
      nth_batch_to_lrq(0, first, last);
      nth_block();
      all += n;
      EXPECT_EQ(ran, all);
    }
  });
}

TEST(batch, of_none_is_nothing) {
  const watchdog guard;
  const runtime up(1);
  const auto none = [] {
    int place = 0;
    auto *last = reinterpret_cast<nth_desc *>(&place);
    errno = 0;
    EXPECT_EQ(nth_batch_get_desc(&last, 0), nullptr);
    EXPECT_EQ(last, nullptr);
    EXPECT_EQ(errno, 0);
    nth_batch_to_lrq(0, nullptr, nullptr);
    nth_batch_to_lrq_end(0, nullptr, nullptr);
  };
  none();
  run(none);
}

TEST(batch, of_more_than_there_can_be_is_refused_at_once) {
  const watchdog guard;
  const runtime up(1);
  for (const long n : {1L << 42, LONG_MAX}) {
    nth_desc *last = nullptr;
    errno = 0;
    EXPECT_EQ(nth_batch_get_desc(&last, n), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    EXPECT_EQ(last, nullptr);
  }
}

TEST(batch, words_of_members_by_both_calls) {
  const watchdog guard;
  for (const nth_policy policy : all_policies) {
    const runtime up(1, policy);
    run([] {
      for (const int many : {0, 1}) {
        batch b;
        b.first = nth_batch_get_desc(&b.last, 8);
        batch_sum = batch_calls = 0;
        nth_depadd(nth_self(), 9);
        long wanted = 0;
        int count = 0;
        for (nth_desc *t = b.first; t != nullptr; t = nth_batch_get_next(t), ++count) {
          batch_init_with(t, count, many, nth_self(), 1000 * count);
          for (int i = 0; i < count; ++i)
            wanted += (i + 1) * (1000L * count + i);
        }
        nth_batch_to_lrq(0, b.first, b.last);
        nth_block();
        EXPECT_EQ(batch_calls, 8);
        EXPECT_EQ(batch_sum, wanted);
      }
    });
  }
}

// Arrays, and more successors than one.
TEST(batch, members_with_many_successors_and_words) {
  const watchdog guard;
  const runtime up(1);
  run([] {
    static long seen;
    seen = 0;
    const auto last_one = +[] { seen = -seen; };
    const auto root = +[](long a, long b, long c, long d, long e, long f) { seen += a + b + c + d + e + f; };
    nth_desc *const self = nth_self();
    nth_depadd(self, 2 + 8 * 2);
    nth_desc *const late = nth_create_ls(last_one, 8, self, 0);
    batch b;
    b.first = nth_batch_get_desc(&b.last, 8);
    const long words[] = {1, 2, 3, 4, 5, 6};
    nth_desc *const succ[] = {late, self, self};
    for (nth_desc *t = b.first; t != nullptr; t = nth_batch_get_next(t))
      nth_batch_create_v(t, reinterpret_cast<void (*)()>(root), 0, 3, succ, 6, words);
    nth_batch_to_lrq(0, b.first, b.last);
    nth_block();
    EXPECT_EQ(seen, -8 * 21);
  });
}

// A member with dependencies is no part of what is enqueued: its predecessor enqueues it.
TEST(batch, members_that_depend_on_each_other) {
  const watchdog guard;
  const runtime up(1);
  run([] {
    std::vector<long> order;
    const auto note = +[](std::vector<long> *to, long i) { to->push_back(i); };
    nth_desc *last = nullptr;
    nth_desc *const first = nth_batch_get_desc(&last, 10);
    nth_depadd(nth_self(), 2);
    long i = 0;
    for (nth_desc *t = first; t != nullptr; t = nth_batch_get_next(t), ++i) {
      nth_desc *const behind = nth_batch_get_next(t);
      nth_batch_create_ls(t, note, i == 0 ? 0 : 1, behind != nullptr ? behind : nth_self(), 2, &order, i);
    }
    nth_to_lrq(0, first);
    nth_block();
    EXPECT_EQ(order, (std::vector<long>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  });
}

// ---- Order ------------------------------------------------------------------------------------------------

struct log_of_runs {
  std::vector<long> ran;
  static void one(log_of_runs *to, long i) { to->ran.push_back(i); }
};

// Random batches and single threads at both ends of the only worker's queue run in the order of a deque.
TEST(batch, order_is_that_of_a_deque) {
  const watchdog guard(60);
  for (const nth_policy policy : all_policies) {
    const runtime up(1, policy);
    std::mt19937 random(static_cast<unsigned>(policy) + 1);
    for (int round = 0; round < (under_tsan ? 3 : 30); ++round) {
      run([&random] {
        log_of_runs log;
        std::deque<long> wanted;
        long next = 0;
        for (int put = 0; put < 20; ++put) {
          const long n = std::uniform_int_distribution<long>(0, put % 4 == 0 ? 200 : 20)(random);
          const bool front = random() % 2 == 0;
          nth_depadd(nth_self(), n + (put == 0 ? 1 : 0));
          if (n == 1) {
            (front ? nth_to_lrq
                   : nth_to_lrq_end)(0, nth_create_ls(log_of_runs::one, 0, nth_self(), 2, &log, next));
          } else {
            batch b;
            b.first = nth_batch_get_desc(&b.last, n);
            long i = next;
            for (nth_desc *t = b.first; t != nullptr; t = nth_batch_get_next(t))
              nth_batch_create_ls(t, log_of_runs::one, 0, nth_self(), 2, &log, i++);
            (front ? nth_batch_to_lrq : nth_batch_to_lrq_end)(0, b.first, b.last);
          }
          for (long i = 0; i < n; ++i)
            wanted.insert(front ? wanted.begin() + i : wanted.end(), next + i);
          next += n;
        }
        nth_block();
        EXPECT_EQ(log.ran, std::vector<long>(wanted.begin(), wanted.end()));
      });
    }
  }
}

// From a kernel thread outside it arrives as one: in order, whatever its size.
TEST(batch, order_from_outside) {
  const watchdog guard;
  for (const bool front : {true, false})
    for (const long n : {1, 7, 64, 65, 128, 1000}) {
      const runtime up(1);
      nth_desc *const self = nth_attach();
      log_of_runs log;
      std::vector<long> wanted;
      nth_depadd(self, n + 1);
      batch b;
      b.first = nth_batch_get_desc(&b.last, n);
      for (nth_desc *t = b.first; t != nullptr; t = nth_batch_get_next(t)) {
        wanted.push_back(static_cast<long>(wanted.size()));
        nth_batch_create_ls(t, log_of_runs::one, 0, self, 2, &log, wanted.back());
      }
      (front ? nth_batch_to_lrq : nth_batch_to_lrq_end)(0, b.first, b.last);
      nth_block();
      EXPECT_EQ(log.ran, wanted);
      EXPECT_EQ(nth_detach(), NTH_OK);
    }
}

// ---- Workers, policies, sizes -----------------------------------------------------------------------------

class sizes : public testing::TestWithParam<std::tuple<nth_policy, int>> {
protected:
  const watchdog guard{60};
};

void expect_nothing_lost() {
  wait_for_rest();
  const idle_objects d = descs_at_rest();
  EXPECT_EQ(d.idle(), d.allocated) << d;
}

void blocks_too(std::atomic<long> *ran, long yields) {
  for (; yields > 0; --yields)
    nth_yield();
  ran->fetch_add(1, std::memory_order_relaxed);
}

// To all workers, at both ends, beside single threads; the members yield, so that they move.
TEST_P(sizes, at_random_to_all_workers) {
  const auto [policy, workers] = GetParam();
  nth_options o = options(workers, policy);
  o.stack_size = 16 << 10;
  const runtime up(o);
  std::mt19937 random(static_cast<unsigned>(workers));
  std::atomic<long> ran = 0;
  long made = 0;
  for (int round = 0; round < (under_tsan ? 2 : 10); ++round) {
    run([&] {
      nth_depadd(nth_self(), 1);
      for (int i = 0; i < 12; ++i) {
        const long n =
            std::uniform_int_distribution<long>(1, i % 3 == 0 ? (under_tsan ? 200 : 1024) : 40)(random);
        nth_depadd(nth_self(), n + 1);
        made += n + 1;
        const batch b = make(n, nth_self(), blocks_too, &ran, static_cast<long>(random() % 3));
        const int to = static_cast<int>(random() % static_cast<unsigned>(kthreads));
        (random() % 2 == 0 ? nth_batch_to_lrq : nth_batch_to_lrq_end)(to, b.first, b.last);
        nth_to_lrq(to, nth_create_ls(blocks_too, 0, nth_self(), 2, &ran, 1L));
      }
      nth_block();
    });
    EXPECT_EQ(ran, made);
  }
  expect_nothing_lost();
}

TEST_P(sizes, from_outside_to_all_workers) {
  const auto [policy, workers] = GetParam();
  const runtime up(workers, policy);
  std::mt19937 random(7);
  std::atomic<long> ran = 0;
  long made = 0;
  nth_desc *const self = nth_attach();
  for (int round = 0; round < 20; ++round) {
    const long n = std::uniform_int_distribution<long>(1, 300)(random);
    nth_depadd(self, n + 1);
    made += n;
    const batch b = make(n, self, count_up, &ran);
    (round % 2 == 0 ? nth_batch_to_lrq : nth_batch_to_lrq_end)(round % workers, b.first, b.last);
    nth_block();
    EXPECT_EQ(ran, made);
  }
  EXPECT_EQ(nth_detach(), NTH_OK);
  expect_nothing_lost();
}

// A batch that was got on one worker and is enqueued on another; two batches under way at one time.
TEST_P(sizes, got_here_and_enqueued_there) {
  const auto [policy, workers] = GetParam();
  const runtime up(workers, policy);
  std::atomic<long> ran = 0;
  for (int round = 0; round < 50; ++round)
    run([&ran] {
      nth_desc *const self = nth_self();
      batch one, two;
      one.first = nth_batch_get_desc(&one.last, 8);
      two.first = nth_batch_get_desc(&two.last, 5);
      nth_depadd(self, 15);
      auto others = [] { nth_yield(); };
      nth_to_lrq(nth_worker(), create(others, self));
      nth_yield();
      for (nth_desc *t = one.first; t != nullptr; t = nth_batch_get_next(t))
        nth_batch_create_ls(t, count_up, 0, self, 1, &ran);
      for (nth_desc *t = two.first; t != nullptr; t = nth_batch_get_next(t)) {
        nth_yield();
        nth_batch_create_ls(t, count_up, 0, self, 1, &ran);
      }
      nth_batch_to_lrq(nth_worker(), one.first, one.last);
      nth_batch_to_lrq_end(nth_worker(), two.first, two.last);
      nth_block();
    });
  EXPECT_EQ(ran, 50 * 13);
  expect_nothing_lost();
}

INSTANTIATE_TEST_SUITE_P(policies, sizes,
                         testing::Combine(testing::ValuesIn(all_policies), testing::Values(1, 2, 4)),
                         [](const auto &test) {
                           return name_of(std::get<0>(test.param)) + std::to_string(std::get<1>(test.param));
                         });

// ---- Members that are not initialised -----------------------------------------------------------------------

TEST(batch, members_are_alive_and_not_blocked) {
  const watchdog guard;
  nth_options o = options(1);
  ASSERT_EQ(nth_init(&o), NTH_OK);
  batch b;
  b.first = nth_batch_get_desc(&b.last, 3);
  const nth_handle_t handle = nth_handle(b.first);
  EXPECT_EQ(nth_alive(handle), 1);
  EXPECT_EQ(nth_unblock(handle), NTH_ESTATE);
  EXPECT_EQ(nth_report_blocked(-1), 0);
  EXPECT_EQ(nth_set_stack_size(b.first, 1 << 17), NTH_ESTATE);
  EXPECT_EQ(nth_finalize(), NTH_EBUSY);
  EXPECT_THAT_NAMES(nth_last_error(), "3 threads");
  nth_desc *const self = nth_attach();
  nth_depadd(self, 4);
  std::atomic<long> ran = 0;
  for (nth_desc *t = b.first; t != nullptr; t = nth_batch_get_next(t))
    nth_batch_create_ls(t, count_up, 0, self, 1, &ran);
  EXPECT_EQ(nth_set_stack_size(b.first, 1 << 17), NTH_OK);
  EXPECT_EQ(nth_alive(handle), 1);
  nth_batch_to_lrq(0, b.first, b.last);
  nth_block();
  EXPECT_EQ(ran, 3);
  EXPECT_EQ(nth_detach(), NTH_OK);
  wait_for_rest();
  EXPECT_EQ(nth_alive(handle), 0);
  EXPECT_EQ(nth_finalize(), NTH_OK);
}

// One access to each list: what the pools have is taken before anything is carved.
TEST(batch, is_gathered_from_the_pools_first) {
  const watchdog guard;
  nth_options o = options(2);
  o.descriptors_local = 256;
  o.descriptors_node = 4096;
  o.descriptors_global = 8192;
  const runtime up(o);
  std::atomic<long> ran = 0;
  const auto burst = [&ran] {
    nth_depadd(nth_self(), 6001);
    const batch b = make(6000, nth_self(), count_up, &ran);
    nth_batch_to_lrq(0, b.first, b.last);
    nth_block();
  };
  run(burst);
  wait_for_rest();
  const idle_objects before = descs_at_rest();
  ASSERT_GT(before.at_nodes, 0) << before;
  ASSERT_GT(before.in_global, 0) << before;
  const long pooled = before.at_nodes + before.in_global;
  nth_desc *const self = nth_attach();
  nth_depadd(self, pooled + 1);
  const batch b = make(pooled, self, count_up, &ran); // this kernel thread's own list has little
  EXPECT_EQ(descs_at_rest().allocated, before.allocated);
  nth_batch_to_lrq(0, b.first, b.last);
  nth_block();
  EXPECT_EQ(nth_detach(), NTH_OK);
  expect_nothing_lost();
}

} // namespace
