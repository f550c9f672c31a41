// NTH_REPORT_DEADLOCK: when every worker idles and only blocked threads are left, the error handler is told,
// with the roots of these threads. The program exports its symbols, so that roots have names.
#include "../support/message.hpp"
#include "../support/reports.hpp"
#include "../support/runtime.hpp"

#include <atomic>
#include <csignal>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace nth::test;

extern "C" void deadlock_test_waits_forever() { nth_block(); }

static std::atomic<bool> handles_known;

// Waits for a thread that is never enqueued.
extern "C" void deadlock_test_waits_for_nobody(nth_handle_t *first, nth_handle_t *second) {
  nth_desc *sleeper = nth_create_ls(deadlock_test_waits_forever, 0, nth_self(), 0);
  *first = nth_handle(sleeper);
  *second = nth_handle(nth_self());
  handles_known = true;
  nth_depadd(nth_self(), 2);
  nth_to_lrq_end(kthreads - 1, sleeper);
  nth_block();
}

namespace {

nth_options reporting(int workers, bool report, nth_policy policy = NTH_POLICY_DSR) {
  nth_options result = options(workers, policy);
  result.report_deadlock = report ? 1 : 0;
  return result;
}

class deadlock : public testing::TestWithParam<nth_policy> {};

TEST_P(deadlock, is_reported_and_can_be_ended) {
  const watchdog guard;
  for (const int workers : {1, 2, 4}) {
    const reports told;
    testing::internal::CaptureStderr();
    {
      const runtime up(reporting(workers, true, GetParam()));
      nth_handle_t sleeper = {}, root = {};
      std::thread runner(
          [&] { EXPECT_EQ(nth_run(deadlock_test_waits_for_nobody, 2, &sleeper, &root), NTH_OK); });
      spin_until([&] { return told.count() > 0; });
      EXPECT_EQ(told.last_status(), NTH_EDEADLOCK);
      EXPECT_EQ(nth_unblock(sleeper), NTH_OK);
      runner.join();
    }
    const std::string text = told.messages() + testing::internal::GetCapturedStderr();
    EXPECT_THAT_NAMES(text, "deadlock_test_waits_forever");
    EXPECT_THAT_NAMES(text, "deadlock_test_waits_for_nobody");
  }
}

TEST_P(deadlock, is_silent_when_threads_can_run) {
  const watchdog guard;
  const reports told;
  const runtime up(reporting(2, true, GetParam()));
  // Long enough for the other worker to fall asleep while one thread runs and another is blocked.
  run([] {
    auto sleeper = [] { nth_block(); };
    nth_depadd(nth_self(), 2);
    nth_desc *thread = create(sleeper, nth_self());
    const nth_handle_t handle = nth_handle(thread);
    nth_to_lrq_end(1 - nth_worker(), thread);
    usleep(300 * 1000);
    EXPECT_EQ(nth_unblock(handle), NTH_OK);
    nth_block();
  });
  usleep(100 * 1000); // idle without any thread is no deadlock
  EXPECT_EQ(told.count(), 0) << told.messages();
}

TEST_P(deadlock, is_silent_by_option) {
  const watchdog guard;
  const reports told;
  const runtime up(reporting(2, false, GetParam()));
  nth_handle_t sleeper = {}, root = {};
  handles_known = false;
  std::thread runner([&] { EXPECT_EQ(nth_run(deadlock_test_waits_for_nobody, 2, &sleeper, &root), NTH_OK); });
  spin_until([] { return handles_known.load(); });
  usleep(300 * 1000);
  EXPECT_EQ(told.count(), 0) << told.messages();
  EXPECT_EQ(nth_unblock(sleeper), NTH_OK);
  runner.join();
}

TEST_P(deadlock, ends_the_process_by_default) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto die = [] {
    const watchdog guard(20);
    const runtime up(reporting(2, true, GetParam()));
    nth_handle_t sleeper, root;
    [[maybe_unused]] const nth_status status = nth_run(deadlock_test_waits_for_nobody, 2, &sleeper, &root);
  };
  EXPECT_EXIT(die(), testing::KilledBySignal(SIGABRT),
              (names{"deadlock_test_waits_forever", "deadlock_test_waits_for_nobody", "blocked|deadlock"}));
}

INSTANTIATE_TEST_SUITE_P(policies, deadlock, testing::ValuesIn(all_policies),
                         [](const auto &test) { return name_of(test.param); });

} // namespace
