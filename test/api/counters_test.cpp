// How many stacks and descriptors a run needs (paper 000, table 2: S and D), for the benchmark Empty: a
// creator makes n threads that do nothing, and waits.
#include "../support/runtime.hpp"

#include <atomic>
#include <tuple>
#include <unistd.h>
#include <vector>

using namespace nth::test;

namespace {

// The formulas. P workers; `blocked`: the most threads that were blocked at one time. The paper has one
// worker less that needs a loop of its own: its first virtual processor is the kernel thread that started
// the program (2 P for dsr, 3 P - 1 for lsa, with the main thread's included).
long expected_stacks(nth_policy policy, long workers, long blocked, long descriptors) {
  switch (policy) {
  case NTH_POLICY_DSR:
    return workers + blocked; // a stack a worker, reused by each next thread
  case NTH_POLICY_LSA:
    return 2 * workers + blocked; // the loop's and the running thread's
  default:
    return descriptors + workers; // a stack a descriptor, and the loops'
  }
}
// Descriptors are carved in lots: at one worker D is the number of waiting threads or up to this many more.
constexpr long carved_ahead = 4096;
// A thread that blocks at one worker and goes on at another leaves a stack there, in the list of that worker,
// while the first one may allocate another; past this many a list shares with all.
constexpr long kept_stacks = 64;
// Descriptors of another home, such as those of nth_run, go back in blocks of this many.
constexpr long returned_together = 64;

class empty : public testing::TestWithParam<std::tuple<nth_policy, int>> {
protected:
  nth_policy policy() const { return std::get<0>(GetParam()); }
  int workers() const { return std::get<1>(GetParam()); }
  nth_options chosen() const {
    nth_options result = options(workers(), policy());
    result.stack_size = 16 << 10;
    return result;
  }
  std::atomic<long> ended = 0;

  void run_empty(long count) {
    ended = 0;
    run([&] {
      const auto root = [](std::atomic<long> *sum, long one) {
        sum->fetch_add(one, std::memory_order_relaxed);
      };
      nth_depadd(nth_self(), count + 1);
      for (long i = 0; i < count; ++i)
        nth_to_lrq(static_cast<int>(i % kthreads), nth_create_ls(+root, 0, nth_self(), 2, &ended, 1));
      nth_block();
    });
    EXPECT_EQ(ended, count);
  }
};

TEST_P(empty, stacks) {
  const watchdog guard;
  const runtime up(chosen());
  run_empty(10000);
  const nth_counters found = counters();
  EXPECT_EQ(found.stacks, expected_stacks(policy(), workers(), 1, found.descriptors));
  EXPECT_EQ(found.workers, workers());
  EXPECT_EQ(found.stack_bytes, 16 << 10);
  EXPECT_EQ(found.descriptor_bytes, 64);
  EXPECT_EQ(found.descriptors_free, found.descriptors) << "no thread is alive";
  EXPECT_GE(found.committed_bytes, found.stacks * found.stack_bytes + found.descriptors);
  EXPECT_GE(found.reserved_bytes, found.committed_bytes);
  EXPECT_LE(found.stacks_unguarded, found.stacks);
}

TEST_P(empty, descriptors) {
  if (workers() != 1)
    GTEST_SKIP() << "with more than one worker threads end while others are made";
  const watchdog guard;
  const runtime up(chosen());
  run_empty(10000);
  EXPECT_GE(counters().descriptors, 10000);
  EXPECT_LE(counters().descriptors, 10000 + carved_ahead);
}

TEST_P(empty, later_runs_allocate_nothing) {
  const watchdog guard;
  const runtime up(chosen());
  run_empty(10000);
  const nth_counters first = counters();
  for (int i = 0; i < 10; ++i)
    run_empty(10000);
  const nth_counters later = counters();
  if (workers() > 1) { // where a thread runs and how many wait at one time differs from run to run
    EXPECT_LE(later.stacks,
              expected_stacks(policy(), workers(), 1, later.descriptors) + kept_stacks * workers());
    EXPECT_LE(later.descriptors, workers() * (10000 + carved_ahead)); // each has been the creator's worker
  } else if (policy() == NTH_POLICY_DOS) {
    EXPECT_LE(later.descriptors, first.descriptors + returned_together);
    EXPECT_EQ(later.stacks, expected_stacks(policy(), 1, 1, later.descriptors));
  } else {
    EXPECT_EQ(later.stacks, first.stacks);
    EXPECT_EQ(later.descriptors, first.descriptors);
    EXPECT_EQ(later.committed_bytes, first.committed_bytes);
  }
}

// Each blocked thread keeps its stack.
TEST_P(empty, stacks_of_blocked_threads) {
  const watchdog guard;
  const runtime up(chosen());
  constexpr int width = 100;
  std::atomic<int> blocked = 0;
  auto sleeper = [&] {
    ++blocked;
    nth_block();
  };
  run([&] {
    std::vector<nth_handle_t> sleeping;
    nth_depadd(nth_self(), width + 1);
    for (int i = 0; i < width; ++i) {
      nth_desc *thread = create(sleeper, nth_self());
      sleeping.push_back(nth_handle(thread));
      nth_to_lrq_end(i % kthreads, thread);
    }
    while (blocked < width)
      nth_yield();
    for (const nth_handle_t &one : sleeping)
      EXPECT_EQ(nth_unblock(one), NTH_OK);
    nth_block();
  });
  const nth_counters found = counters();
  EXPECT_GE(found.stacks, workers() + width);
  EXPECT_LE(found.stacks, expected_stacks(policy(), workers(), width + 1, found.descriptors));
  EXPECT_EQ(found.descriptors_free, found.descriptors);
}

TEST_P(empty, sleeping_workers_are_counted) {
  const watchdog guard;
  const runtime up(chosen());
  run_empty(100);
  spin_until([&] { return counters().sleeps >= workers(); });
  usleep(200 * 1000);
  const long before = counters().sleeps;
  run_empty(100);
  spin_until([&] { return counters().sleeps > before; });
}

INSTANTIATE_TEST_SUITE_P(workers, empty,
                         testing::Combine(testing::ValuesIn(all_policies), testing::Values(1, 2, 4)),
                         [](const auto &test) {
                           return name_of(std::get<0>(test.param)) + std::to_string(std::get<1>(test.param));
                         });

TEST(counters, idle_process_uses_no_processor) {
  const watchdog guard;
  const runtime up(4);
  run([] {});
  long used = 0;
  for (int tries = 0; tries < 10; ++tries) { // on a busy machine workers are late to fall asleep
    usleep(200 * 1000);
    timespec before, after;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    usleep(500 * 1000);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    used = (after.tv_sec - before.tv_sec) * 1000000000 + (after.tv_nsec - before.tv_nsec);
    if (used < 25 * 1000 * 1000)
      break;
  }
  EXPECT_LT(used, 25 * 1000 * 1000) << "nanoseconds of processor time in half a second, ten times";
}

TEST(counters, blocked_threads_are_reported) {
  const watchdog guard;
  const runtime up(1);
  EXPECT_EQ(nth_report_blocked(STDERR_FILENO), 0);
  std::atomic<bool> reached = false;
  auto sleeper = [] { nth_block(); };
  auto nothing = [] {};
  auto mark = [&] { reached = true; };
  nth_desc *blocked = create(sleeper);
  nth_desc *waiting = create(nothing, nullptr, 1); // waits for one dependency
  nth_desc *first = create(nothing, waiting);      // not enqueued: it waits for nothing
  nth_desc *last = create(mark);
  const nth_handle_t handles[] = {nth_handle(blocked), nth_handle(waiting), nth_handle(first),
                                  nth_handle(last)};
  nth_to_lrq_end(0, blocked);
  nth_to_lrq_end(0, last); // runs when the one before it has blocked
  spin_until([&] { return reached && nth_alive(handles[3]) == 0; });
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_EQ(nth_report_blocked(ends[1]), 2);
  close(ends[1]);
  int lines = 0;
  for (char one; read(ends[0], &one, 1) == 1;)
    lines += one == '\n';
  close(ends[0]);
  EXPECT_EQ(lines, 2);
  EXPECT_EQ(nth_unblock(handles[0]), NTH_OK);
  nth_to_lrq(0, first);
  for (const nth_handle_t &one : handles)
    spin_until([&] { return nth_alive(one) == 0; });
  EXPECT_EQ(nth_report_blocked(STDERR_FILENO), 0);
}

} // namespace
