// nth_init, nth_finalize, nth_run: starting and ending, over and over, in and out of order.
#include "../support/runtime.hpp"

#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

using namespace nth::test;

namespace {

TEST(lifecycle, repeats) {
  const watchdog guard;
  for (int i = 0; i < 50; ++i) {
    const runtime up(1 + i % 3);
    int runs = 0;
    run([&] { ++runs; });
    EXPECT_EQ(runs, 1);
  }
}

TEST(lifecycle, ends_right_after_its_start) {
  const watchdog guard;
  for (int i = 0; i < 50; ++i)
    const runtime up(4);
}

TEST(lifecycle, knows_whether_it_is_up) {
  EXPECT_EQ(kthreads, 0);
  EXPECT_EQ(nth_workers(), 0);
  nth_counters ignored;
  EXPECT_EQ(nth_get_counters(&ignored), NTH_ESTATE);
  {
    const runtime up(3);
    EXPECT_EQ(kthreads, 3);
    EXPECT_EQ(nth_workers(), 3);
    EXPECT_EQ(counters().workers, 3);
  }
  EXPECT_EQ(kthreads, 0);
  EXPECT_EQ(nth_workers(), 0);
  EXPECT_EQ(nth_get_counters(&ignored), NTH_ESTATE);
}

TEST(lifecycle, init_twice) {
  const runtime up(1);
  const nth_options second = options(2);
  EXPECT_EQ(nth_init(&second), NTH_ESTATE);
  EXPECT_EQ(nth_init(nullptr), NTH_ESTATE);
  EXPECT_EQ(nth_workers(), 1);
  int runs = 0;
  run([&] { ++runs; });
  EXPECT_EQ(runs, 1);
}

TEST(lifecycle, not_up) {
  EXPECT_EQ(nth_finalize(), NTH_ESTATE);
  EXPECT_EQ(nth_run(
                +[] {}, 0),
            NTH_ESTATE);
  { const runtime up(1); }
  EXPECT_EQ(nth_finalize(), NTH_ESTATE);
  EXPECT_EQ(nth_run(
                +[] {}, 0),
            NTH_ESTATE);
}

TEST(lifecycle, not_from_a_thread) {
  const runtime up(2);
  run([] {
    EXPECT_EQ(nth_init(nullptr), NTH_ESTATE);
    EXPECT_EQ(nth_finalize(), NTH_ESTATE);
    EXPECT_EQ(nth_run(
                  +[] {}, 0),
              NTH_ESTATE);
  });
}

TEST(lifecycle, finalize_with_a_thread_not_enqueued) {
  const watchdog guard;
  const nth_options two = options(2);
  ASSERT_EQ(nth_init(&two), NTH_OK) << nth_last_error();
  nth_desc *self = nth_attach();
  ASSERT_NE(self, nullptr);
  int runs = 0;
  auto body = [&] { ++runs; };
  nth_depadd(self, 2);
  nth_desc *thread = create(body, self);
  EXPECT_EQ(nth_finalize(), NTH_EBUSY);
  EXPECT_STRNE(nth_last_error(), "");
  EXPECT_EQ(nth_workers(), 2) << "the run goes on";
  nth_to_lrq(0, thread);
  nth_block();
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(nth_detach(), NTH_OK);
  EXPECT_EQ(nth_finalize(), NTH_OK) << nth_last_error();
}

// What a thread did last is seen before its worker has counted it as ended.
TEST(lifecycle, finalize_waits_for_the_last_steps_of_a_thread) {
  const watchdog guard;
  const nth_options two = options(2);
  ASSERT_EQ(nth_init(&two), NTH_OK) << nth_last_error();
  std::atomic<bool> seen = false;
  std::atomic<long> left = 1'000'000;
  auto body = [&] {
    seen = true;
    while (--left > 0)
      continue;
  };
  nth_to_lrq(0, create(body));
  spin_until([&] { return seen.load(); });
  EXPECT_EQ(nth_finalize(), NTH_OK) << nth_last_error();
  EXPECT_LE(left, 0);
}

TEST(lifecycle, finalize_with_a_blocked_thread) {
  const watchdog guard;
  const nth_options two = options(2);
  ASSERT_EQ(nth_init(&two), NTH_OK) << nth_last_error();
  std::atomic<bool> resumed = false;
  nth_handle_t blocked = {};
  auto body = [&] {
    nth_block();
    resumed = true;
  };
  run([&] {
    nth_desc *thread = create(body);
    blocked = nth_handle(thread);
    nth_to_lrq(0, thread);
  });
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(nth_finalize(), NTH_EBUSY);
  EXPECT_EQ(nth_unblock(blocked), NTH_OK);
  spin_until([&] { return nth_alive(blocked) == 0; });
  EXPECT_TRUE(resumed);
  EXPECT_EQ(nth_finalize(), NTH_OK) << nth_last_error();
}

TEST(run, hands_over_its_arguments) {
  const runtime up(1);
  static long seen[3];
  void (*root)(long, long, long) = [](long a, long b, long c) {
    seen[0] = a;
    seen[1] = b;
    seen[2] = c;
  };
  EXPECT_EQ(nth_run(root, 3, 1, -2, &seen), NTH_OK);
  EXPECT_EQ(seen[0], 1);
  EXPECT_EQ(seen[1], -2);
  EXPECT_EQ(seen[2], reinterpret_cast<long>(&seen));
  const long words[] = {4, 5, 6};
  EXPECT_EQ(nth_run_v(reinterpret_cast<void (*)()>(root), 3, words), NTH_OK);
  EXPECT_EQ(seen[0] + seen[1] + seen[2], 15);
}

TEST(run, refuses_wrong_arguments) {
  const runtime up(1);
  const long words[NTH_MAX_ARGS + 1] = {};
  void (*const root)() = [] {};
  EXPECT_EQ(nth_run_v(nullptr, 0, nullptr), NTH_EINVAL);
  EXPECT_EQ(nth_run_v(root, -1, words), NTH_EINVAL);
  EXPECT_EQ(nth_run_v(root, NTH_MAX_ARGS + 1, words), NTH_EINVAL);
}

TEST(run, waits_for_its_root_alone) {
  const watchdog guard;
  const runtime up(2);
  std::atomic<bool> go = false, gone = false;
  nth_handle_t child = {};
  auto body = [&] {
    while (!go)
      nth_yield();
    gone = true;
  };
  run([&] {
    nth_desc *thread = create(body);
    child = nth_handle(thread);
    nth_to_lrq_end(nth_worker(), thread);
  });
  EXPECT_FALSE(gone);
  EXPECT_EQ(nth_alive(child), 1);
  go = true;
  spin_until([&] { return nth_alive(child) == 0; });
  EXPECT_TRUE(gone);
}

TEST(run, from_several_kernel_threads_at_once) {
  const watchdog guard;
  const runtime up(2);
  const long runs_each = pick_size(50, 500, 20000);
  std::atomic<long> sum = 0;
  std::vector<std::thread> callers;
  for (int k = 1; k <= 8; ++k)
    callers.emplace_back([&, k] {
      for (long i = 0; i < runs_each; ++i) {
        long mine = 0;
        run([&] { mine = k; });
        EXPECT_EQ(mine, k);
        sum += mine;
      }
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(sum, 36 * runs_each);
}

TEST(status, has_a_text_for_each) {
  std::set<std::string> texts;
  for (int status = NTH_OK; status <= NTH_EDEADLOCK; ++status) {
    const char *text = nth_strstatus(static_cast<nth_status>(status));
    ASSERT_NE(text, nullptr);
    texts.insert(text);
  }
  EXPECT_EQ(texts.size(), 1u + NTH_EDEADLOCK);
}

} // namespace
