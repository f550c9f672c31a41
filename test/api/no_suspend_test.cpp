// nth_no_suspend scopes: inside of one, enqueueing never suspends its caller; a scope belongs to its thread.
#include "../support/runtime.hpp"

#include <atomic>
#include <functional>
#include <vector>

using namespace nth::test;

namespace {

constexpr long bound = 64;
constexpr int above = (under_tsan ? 4 : 10) * bound;

class no_suspend : public testing::TestWithParam<nth_policy> {
protected:
  const watchdog guard;

  static nth_options bounded(long workers) {
    nth_options result = options(workers, GetParam());
    result.backlog = bound;
    return result;
  }
  // Whether enqueueing suspends the caller: others run while it puts more threads than the bound. At one worker.
  static bool is_suspended() {
    static std::atomic<bool> ran;
    static auto other = [] { ran = true; };
    ran = false;
    for (int i = 0; i < above; ++i) {
      nth_to_lrq(nth_worker(), create(other));
      nth_to_lrq_end(nth_worker(), create(other));
    }
    return ran;
  }
  // nth_finalize wants all to have ended: the caller comes to the end of the queue behind them.
  static void let_all_end() {
    for (int i = 0; i < 3; ++i)
      nth_yield();
  }
};

TEST_P(no_suspend, scopes_nest) {
  const runtime up(bounded(1));
  run([] {
    EXPECT_TRUE(is_suspended());
    nth_no_suspend_begin();
    EXPECT_FALSE(is_suspended());
    {
      const nth::no_suspend_scope inner;
      EXPECT_FALSE(is_suspended());
    }
    EXPECT_FALSE(is_suspended());
    nth_no_suspend_end();
    EXPECT_TRUE(is_suspended());
    let_all_end();
  });
}

TEST_P(no_suspend, threads_suspend_themselves_inside) {
  const runtime up(bounded(1));
  run([] {
    auto child = [] { EXPECT_TRUE(is_suspended()); };
    nth_no_suspend_begin();
    for (int i = 0; i < 2; ++i) {
      nth_depadd(nth_self(), 2); // a child that is called in place, where that is done: it inherits nothing
      nth_to_lrq(0, create(child, nth_self()));
      nth_block();
      EXPECT_FALSE(is_suspended()) << "after a child";
      nth_yield();
      EXPECT_FALSE(is_suspended()) << "after a yield";
    }
    nth_no_suspend_end();
    EXPECT_TRUE(is_suspended());
    let_all_end();
  });
}

// A child has scopes of its own, on its parent's stack too, and what it leaves open is over with it.
TEST_P(no_suspend, a_child_changes_nothing) {
  const runtime up(bounded(1));
  run([] {
    auto child = [] {
      nth_no_suspend_begin();
      nth_no_suspend_begin();
      EXPECT_FALSE(is_suspended());
      nth_no_suspend_end();
    };
    const auto join = [&] {
      nth_depadd(nth_self(), 2);
      nth_to_lrq(0, create(child, nth_self()));
      nth_block();
    };
    join();
    EXPECT_TRUE(is_suspended());
    nth_no_suspend_begin();
    join();
    EXPECT_FALSE(is_suspended());
    nth_no_suspend_end();
    EXPECT_TRUE(is_suspended());
    let_all_end();
  });
}

// The next thread has the stack, and the descriptor, of one that ended inside.
TEST_P(no_suspend, ends_with_the_thread) {
  const runtime up(bounded(1));
  run([] {
    auto leaves_open = [] { nth_no_suspend_begin(); };
    auto next = [] { EXPECT_TRUE(is_suspended()); };
    const std::function<void()> roots[] = {leaves_open, next, leaves_open, leaves_open, next};
    for (const auto &root : roots) {
      nth_depadd(nth_self(), 2);
      auto body = [&] { root(); };
      nth_to_lrq_end(0, create(body, nth_self()));
      nth_block();
    }
    let_all_end();
  });
}

// The control words that nth_keep_fp keeps lie in the same word.
TEST_P(no_suspend, control_words_are_kept_beside) {
  const runtime up(bounded(1));
  run([] {
    nth_keep_fp(1);
    nth_no_suspend_begin();
    let_all_end();
    EXPECT_FALSE(is_suspended());
    let_all_end();
    EXPECT_FALSE(is_suspended());
    nth_no_suspend_end();
    EXPECT_TRUE(is_suspended());
    nth_keep_fp(0);
    let_all_end();
  });
}

// Where a thread goes its scopes go. With as many workers, others run without a way being made: what is looked
// at is that the thread does not change its worker while it puts.
TEST_P(no_suspend, goes_along_to_other_workers) {
  const runtime up(bounded(4));
  constexpr int creators = under_tsan ? 8 : 16, rounds = under_tsan ? 2 : 50;
  std::atomic<long> ran = 0, moved = 0;
  auto other = [&] { ++ran; };
  run([&] {
    auto creator = [&] {
      const nth::no_suspend_scope scope;
      for (int i = 0; i < rounds; ++i) {
        const int here = nth_worker();
        nth_depadd(nth_self(), above + 1);
        for (int j = 0; j < above; ++j)
          (j % 2 == 0 ? nth_to_lrq : nth_to_lrq_end)(j % 7 == 0 ? j % 4 : here, create(other, nth_self()));
        EXPECT_EQ(nth_worker(), here);
        nth_block();
        moved += nth_worker() != here;
      }
    };
    nth_depadd(nth_self(), creators + 1);
    for (int i = 0; i < creators; ++i)
      nth_to_lrq(i % 4, create(creator, nth_self()));
    nth_block();
  });
  EXPECT_EQ(ran, static_cast<long>(creators) * rounds * above);
  RecordProperty("moved", static_cast<int>(moved));
}

// The reason for scopes: a mutex of kernel threads that creators share.
TEST_P(no_suspend, creators_may_hold_a_lock) {
  const runtime up(bounded(2));
  constexpr int creators = 8;
  std::atomic_flag lock = ATOMIC_FLAG_INIT;
  std::atomic<long> ran = 0;
  auto other = [&] { ++ran; };
  run([&] {
    auto creator = [&] {
      nth_depadd(nth_self(), above + 1);
      for (int i = 0; i < above; i += 128) {
        const nth::no_suspend_scope scope;
        while (lock.test_and_set())
          sched_yield(); // would wait for ever on a thread that was suspended with it on the same worker
        for (int j = 0; j < 128; ++j)
          nth_to_lrq(j % kthreads, create(other, nth_self()));
        lock.clear();
      }
      nth_block();
    };
    nth_depadd(nth_self(), creators + 1);
    for (int i = 0; i < creators; ++i)
      nth_to_lrq(i % kthreads, create(creator, nth_self()));
    nth_block();
  });
  EXPECT_EQ(ran, static_cast<long>(creators) * above);
}

INSTANTIATE_TEST_SUITE_P(policies, no_suspend, testing::ValuesIn(all_policies),
                         [](const auto &test) { return name_of(test.param); });

} // namespace
