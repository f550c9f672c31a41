// Exceptions that meet noexcept, and those that are thrown again while destructors go through stubs.
#include "on_segments.hpp"

#include <atomic>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <unwind.h>
#include <vector>

using namespace nth::test;

namespace {

// A handler of std::terminate that goes through stubs itself.
[[noreturn]] void tell_and_end() {
  descent d{};
  const bool deep = stub_down(50, &d) == 50;
  std::fprintf(stderr, "terminate, %s\n", deep ? "with stubs" : "without");
  std::_Exit(7);
}

void meet_noexcept(nth_policy policy, bool small) {
  const watchdog guard;
  std::set_terminate(tell_and_end);
  const runtime up(1, policy);
  const auto root = [](long) {
    call_with_room(
        17'000, +[](long *value) { stub_noexcept(static_cast<int>(*value)); },
        std::make_unique<long>(3).get());
  };
  if (small)
    run_small(17'500, +root, 0L);
  else
    run([&] { root(0); });
}

TEST(an_exception, that_meets_noexcept_on_a_segment_terminates) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  for (const nth_policy policy : all_policies) {
    for (const bool small : {true, false})
      EXPECT_EXIT(meet_noexcept(policy, small), testing::ExitedWithCode(7), "terminate, with stubs");
  }
}

TEST(an_exception, is_thrown_again_while_destructors_throw_and_go_through_stubs) {
  for (const int levels : {1, 2, 5}) {
    SCOPED_TRACE(levels);
    outcome o{levels};
    on_segments(
        17'000,
        +[](outcome *to) {
          for (int turn = 0; turn < 3; ++turn) {
            destroyed = 0;
            try {
              stub_busy(to->levels, 42);
            } catch (int value) {
              to->caught += value == 42;
            }
            to->wrong += destroyed != to->levels; // one more by each destructor's own two, less one
            to->wrong += !limits_are_right();
            to->wrong += std::uncaught_exceptions() != 0;
          }
        },
        &o);
    EXPECT_EQ(o.caught, 18);
    EXPECT_EQ(o.wrong, 0);
  }
}

// As pthread_cancel does it. The function that is asked where to stop switches from stacks that are left already; frames
// beneath them then find their own limits.
struct forced {
  jmp_buf back;
  std::uintptr_t until;
  _Unwind_Exception exception;
  outcome *to;
} f;

_Unwind_Reason_Code switch_and_go_on(int, _Unwind_Action, _Unwind_Exception_Class, _Unwind_Exception *,
                                     _Unwind_Context *context, void *) {
  call_with_room(
      400, +[](long *) { stub_here(); }, static_cast<long *>(nullptr));
  const std::uintptr_t cfa = _Unwind_GetCFA(context);
  if (nth::detail::top_of(cfa) == nth::detail::top_of(f.until) && cfa >= f.until)
    stub_longjmp(f.back, 1);
  return _URC_NO_REASON;
}

TEST(a_forced_unwind, switches_on_stacks_that_it_has_left) {
  outcome o{};
  at_destruction = [] { f.to->wrong += !limits_fit(); };
  on_segments(
      17'000,
      +[](outcome *to) {
        f.to = to;
        f.until = here();
        destroyed = 0;
        if (setjmp(f.back) == 0) {
          at_the_throw = [] {
            std::memset(&f.exception, 0, sizeof f.exception);
            _Unwind_ForcedUnwind(&f.exception, switch_and_go_on, nullptr);
          };
          stub_through(5, 1);
        }
        at_the_throw = nullptr;
        to->caught += destroyed == 5;
        to->wrong += !limits_fit() || !limits_are_right();
      },
      &o);
  at_destruction = nullptr;
  EXPECT_EQ(o.caught, 6);
  EXPECT_EQ(o.wrong, 0);
}

// Dead segments lie above a stack when its thread goes on at a worker that has another one at hand for it. Two threads
// keep a worker each, and let the third run there in turns.
nth_handle_t wanderer;
std::atomic<int> whose_turn;
std::atomic<bool> wandered;
std::atomic<long> wrong_worker;

void keep_a_worker(long mine) {
  while (!wandered) {
    if (whose_turn != mine)
      continue;
    while (!wandered && nth_unblock(wanderer) != NTH_OK)
      ;
    nth_yield();
    whose_turn = 1 - static_cast<int>(mine);
  }
}

void throw_elsewhere(outcome *to) {
  const auto move = [] {
    const int at = nth::detail::current_worker()->id;
    nth_block();
    wrong_worker += nth::detail::current_worker()->id == at;
  };
  for (int turn = 0; turn < 20; ++turn) {
    stub_here_large();
    move();
    try {
      stub_through(1, 3);
    } catch (int) {
      ++to->caught;
    }
    move();
    stub_here_large();
  }
  wandered = true;
}

TEST(an_exception, on_one_worker_leaves_no_segment_to_another) {
  const watchdog guard;
  for (const nth_policy policy : all_policies) {
    SCOPED_TRACE(name_of(policy));
    const runtime up(2, policy);
    outcome o{};
    wandered = false;
    whose_turn = 0;
    wrong_worker = 0;
    run([&] {
      nth_depadd(nth_self(), 4);
      const auto root = [](outcome *to) { call_with_room(3'900, throw_elsewhere, to); };
      nth_desc *t = nth_create_ls(reinterpret_cast<void (*)()>(+root), 0, nth_self(), 1, &o);
      ASSERT_EQ(nth_set_stack_need(t, 6'000), NTH_OK);
      wanderer = nth_handle(t);
      nth_to_lrq(0, t);
      for (long i = 0; i < 2; ++i)
        nth_to_lrq_end(static_cast<int>(i),
                       nth_create_ls(reinterpret_cast<void (*)()>(keep_a_worker), 0, nth_self(), 1, i));
      nth_block();
    });
    EXPECT_EQ(o.caught, 20);
    EXPECT_LE(wrong_worker, 10) << "the first times it may be run by any";
    expect_no_segments(2);
  }
}

} // namespace
