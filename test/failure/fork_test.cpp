// Fork-join and loops without memory: nothing that was spawned is lost, calls say what they could not do, and once
// there is memory again all is as before.
#include "refusals.hpp"

#include "nth/loop.h"
#include "nth/spawn.h"

#include <vector>

using namespace nth::test;
namespace os = nth::detail::os;

namespace {

class fork_memory : public refused_memory {};

long plus_one(long value) { return value + 1; }

// Makes threads, not enqueued, until there is no descriptor left.
class no_descriptors {
public:
  no_descriptors() {
    refuse_commits();
    while (nth_desc *thread = nth_create_ls(
               +[](std::atomic<long> *count) { ++*count; }, 0, nth_self(), 1, &ran))
      held.push_back(thread);
  }
  ~no_descriptors() {
    os::fail_never();
    nth_depadd(nth_self(), static_cast<long>(held.size()) + 1);
    for (nth_desc *thread : held)
      nth_to_lrq(0, thread);
    nth_block();
    EXPECT_EQ(ran, static_cast<long>(held.size()));
  }
  no_descriptors(const no_descriptors &) = delete;
  no_descriptors &operator=(const no_descriptors &) = delete;

private:
  std::atomic<long> ran = 0;
  std::vector<nth_desc *> held;
};

constexpr long records = 20;

TEST_P(fork_memory, without_descriptors_a_parent_is_not_suspended_and_its_calls_are_not_lost) {
  const runtime up(small(1));
  run([] {
    nth_spawn_record all[records];
    {
      const no_descriptors none;
      for (long i = 0; i < records; ++i)
        nth_spawn(&all[i], plus_one, i);
      nth_yield(); // there is nothing to share them with, so it stays
      EXPECT_EQ(nth_try_block(), NTH_ENOMEM);
      {
        const reports told;
        nth_block();
        EXPECT_EQ(reports::last_status(), NTH_ENOMEM);
      }
      for (long i = records - 1; i >= records / 2; --i)
        EXPECT_EQ(nth_sync(&all[i]), i + 1);
      os::fail_never();
    }
    for (long i = records / 2 - 1; i >= 0; --i)
      EXPECT_EQ(nth_sync(&all[i]), i + 1);
  });
  expect_right_run(100);
}

void count_index(long /*index*/, void *shared) { ++*static_cast<std::atomic<long> *>(shared); }
void count_piece(long first, long last, void *shared) {
  *static_cast<std::atomic<long> *>(shared) += last - first;
}

TEST_P(fork_memory, a_loop_that_cannot_begin_says_so_and_one_that_can_ends) {
  const runtime up(small(1));
  run([] {
    std::atomic<long> count = 0;
    {
      const no_descriptors none;
      for (int i = 0; i < 100; ++i)
        EXPECT_EQ(nth_spawn_n(count_index, 10, &count, nth_self()), NTH_ENOMEM);
      EXPECT_NE(std::string(nth_last_error()), "");
      for (int schedule = 0; schedule < 4; ++schedule)
        EXPECT_EQ(nth_parallel_for(0, 1000, count_piece, &count, static_cast<nth_schedule>(schedule), 0),
                  NTH_OK);
      EXPECT_EQ(count, 4000);
    }
    nth_depadd(nth_self(), 2);
    EXPECT_EQ(nth_spawn_n(count_index, 10, &count, nth_self()), NTH_OK);
    nth_block();
    EXPECT_EQ(count, 4010);
  });
  wait_for_ends();
}

// Each commit of a run refused once.
long fib(long n) {
  if (n < 2)
    return n;
  nth_spawn_record left;
  nth_spawn(&left, fib, n - 1);
  if (n % 3 == 0)
    nth_yield();
  const long right = fib(n - 2);
  return nth_sync(&left) + right;
}

TEST_P(fork_memory, each_commit_refused_once) {
  for (long nth = 1; nth <= 12; ++nth) {
    nth_options chosen = options(2, GetParam());
    const runtime up(chosen);
    const reports told; // what cannot be had is told, and tried again
    long result = 0;
    os::fail_after(fail_kind::commit, nth, false);
    nth_desc *self = nth_attach();
    ASSERT_NE(self, nullptr);
    auto body = [&] { result = fib(17); };
    nth_depadd(self, 2);
    nth_desc *thread = nth_create_ls(&call<decltype(body)>, 0, self, 1, &body);
    if (thread == nullptr) {
      thread = nth_create_ls(&call<decltype(body)>, 0, self, 1, &body);
      ASSERT_NE(thread, nullptr);
    }
    nth_to_lrq(0, thread);
    if (reports::count() != 0) // no memory to hand it over: not enqueued
      nth_to_lrq(0, thread);
    nth_block();
    os::fail_never();
    EXPECT_EQ(result, 1597) << nth;
    EXPECT_EQ(nth_detach(), NTH_OK);
    wait_for_ends();
  }
}

// At a sync that must wait, no stack to go on with: it is told, and waited for.
TEST(fork_stacks, a_sync_waits_without_a_stack) {
  const watchdog guard(60);
  os::fail_never();
  nth_options chosen = options(1, NTH_POLICY_DSR);
  chosen.stack_size = 1L << 20;
  const runtime up(chosen);
  expect_right_run(100);
  run([] {
    std::vector<nth_handle_t> handles;
    long blocked = 0;
    auto waits = [&] {
      ++blocked;
      nth_block();
      --blocked;
    };
    static nth_handle_t child;
    child = {};
    const auto blocking = +[](long value) -> long {
      child = nth_handle(nth_self());
      nth_block();
      return value;
    };
    nth_spawn_record r;
    nth_spawn(&r, blocking, 5);
    while (child.thread == nullptr)
      nth_yield();
    refuse_commits();
    do {
      nth_desc *thread = create(waits);
      handles.push_back(nth_handle(thread));
      nth_to_lrq_end(0, thread);
      nth_yield();
    } while (blocked == static_cast<long>(handles.size()));
    EXPECT_EQ(nth_unblock(child), NTH_OK);
    os::fail_after(fail_kind::commit, 1, true);
    static std::atomic<long> heard;
    heard = 0;
    const nth_error_handler before = nth_set_error_handler(+[](nth_status status, const char *) {
      EXPECT_EQ(status, NTH_ENOMEM);
      ++heard;
      os::fail_never();
    });
    EXPECT_EQ(nth_sync(&r), 5);
    nth_set_error_handler(before);
    os::fail_never();
    for (const nth_handle_t &one : handles)
      EXPECT_EQ(nth_unblock(one), NTH_OK);
    while (blocked > 0)
      nth_yield();
  });
  expect_right_run(right_run);
}

INSTANTIATE_TEST_SUITE_P(policies, fork_memory, testing::ValuesIn(all_policies),
                         [](const auto &one) { return name_of(one.param); });

} // namespace
