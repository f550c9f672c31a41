// Segments that are left by exceptions, longjmp and out of signal handlers; walks over them.
#include "on_segments.hpp"

#include <csignal>
#include <cstring>
#include <execinfo.h>
#include <sys/mman.h>
#include <unwind.h>
#include <vector>

using namespace nth::test;
using nth::detail::top_of;

namespace {

TEST(an_exception, passes_segments) {
  for (const int levels : {1, 2, 3, 7}) {
    SCOPED_TRACE(levels);
    outcome o{levels};
    on_segments(
        17'000,
        +[](outcome *to) {
          for (int turn = 0; turn < 3; ++turn) {
            destroyed = 0;
            try {
              stub_through(to->levels, 42);
            } catch (int value) {
              to->caught += value == 42;
            }
            to->wrong += destroyed != to->levels;
            to->wrong += !limits_are_right();
          }
        },
        &o);
    EXPECT_EQ(o.caught, 18);
    EXPECT_EQ(o.wrong, 0);
  }
}

TEST(an_exception, is_thrown_and_caught_on_a_segment) {
  outcome o{};
  on_segments(
      2000,
      +[](outcome *to) {
        descent d{};
        d.self = reinterpret_cast<nth_desc *>(to);
        d.deepest = [](descent *it) {
          try {
            stub_through(2, 5);
          } catch (int value) {
            auto *out = reinterpret_cast<outcome *>(it->self);
            out->caught += value == 5;
            out->wrong += !limits_are_right();
          }
        };
        to->wrong += down(300, &d) != 300;
      },
      &o);
  EXPECT_EQ(o.caught, 6);
  EXPECT_EQ(o.wrong, 0);
}

TEST(an_exception, is_thrown_again_and_another_one_in_between) {
  outcome o{3};
  on_segments(
      17'000,
      +[](outcome *to) {
        try {
          try {
            stub_through(to->levels, 1);
          } catch (int) {
            try {
              stub_through(2, 2);
            } catch (int second) {
              to->caught += second == 2;
            }
            throw; // the first one
          }
        } catch (int first) {
          to->caught += first == 1;
        }
        to->wrong += !limits_are_right();
      },
      &o);
  EXPECT_EQ(o.caught, 12);
  EXPECT_EQ(o.wrong, 0);
}

// A handler that suspends its thread: the dead segments go along.
TEST(an_exception, is_handled_across_a_suspension) {
  const watchdog guard;
  for (const nth_policy policy : all_policies) {
    const runtime up(4, policy);
    constexpr int width = 100;
    std::vector<outcome> all(width, outcome{3});
    const auto root = [](outcome *o) {
      call_with_room(
          17'000,
          +[](outcome *to) {
            for (int turn = 0; turn < 5; ++turn) {
              try {
                stub_through(to->levels, turn);
              } catch (int value) {
                nth_yield();
                to->caught += value == turn;
              }
              nth_yield();
            }
          },
          o);
    };
    run([&] {
      nth_depadd(nth_self(), width + 1);
      for (int i = 0; i < width; ++i) {
        nth_desc *t = nth_create_ls(reinterpret_cast<void (*)()>(+root), 0, nth_self(), 1,
                                    &all[static_cast<std::size_t>(i)]);
        if (i % 2 == 0) {
          ASSERT_EQ(nth_set_stack_need(t, 18'000), NTH_OK);
        }
        nth_to_lrq_end(i % 4, t);
      }
      nth_block();
    });
    for (const outcome &o : all)
      EXPECT_EQ(o.caught, 5);
    expect_no_segments(4);
  }
}

// As pthread_cancel does it: no handler, a function that says where to stop.
struct forced {
  outcome *to;
  jmp_buf back;
  std::uintptr_t until;
  _Unwind_Exception exception;
};

TEST(a_forced_unwind, passes_segments) {
  outcome o{};
  on_segments(
      17'000,
      +[](outcome *to) {
        static forced f;
        f.to = to;
        f.until = here();
        destroyed = 0;
        if (setjmp(f.back) == 0) {
          descent d{};
          d.deepest = [](descent *) {
            std::memset(&f.exception, 0, sizeof f.exception);
            _Unwind_ForcedUnwind(
                &f.exception,
                [](int, _Unwind_Action, _Unwind_Exception_Class, _Unwind_Exception *,
                   _Unwind_Context *context, void *) -> _Unwind_Reason_Code {
                  const std::uintptr_t cfa = _Unwind_GetCFA(context);
                  if (top_of(cfa) == top_of(f.until) && cfa >= f.until)
                    stub_longjmp(f.back, 1);
                  return _URC_NO_REASON;
                },
                nullptr);
          };
          stub_down(3000, &d);
        }
        to->caught += 1;
        to->wrong += !limits_are_right();
      },
      &o);
  EXPECT_EQ(o.caught, 6);
  EXPECT_EQ(o.wrong, 0);
}

TEST(longjmp, leaves_segments) {
  for (const int levels : {0, 1, 2, 9}) {
    SCOPED_TRACE(levels);
    outcome o{levels};
    on_segments(
        3500,
        +[](outcome *to) {
          for (int turn = 0; turn < 3; ++turn) {
            jmp_buf back;
            const int value = setjmp(back);
            if (value == 0)
              stub_jump(&back, to->levels);
            to->caught += value == 7;
            to->wrong += !limits_are_right();
          }
        },
        &o);
    EXPECT_EQ(o.caught, 18);
    EXPECT_EQ(o.wrong, 0);
  }
}

// ---- Signals ----

// Workers block signals that are not meant for one thread.
void signal_myself() {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, SIGUSR1);
  pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  raise(SIGUSR1);
}

sigjmp_buf out_of_handler;
volatile long handled;

TEST(siglongjmp, out_of_a_handler_on_the_alternate_stack_leaves_segments) {
  struct sigaction old, action = {};
  action.sa_handler = [](int) { stub_siglongjmp(out_of_handler, 3); };
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR1, &action, &old);
  outcome o{};
  on_segments(
      3000,
      +[](outcome *to) {
        const int value = sigsetjmp(out_of_handler, 1);
        if (value == 0) {
          descent d{};
          d.deepest = [](descent *) { signal_myself(); };
          stub_down(200, &d);
        }
        to->caught += value == 3;
        to->wrong += !limits_are_right();
      },
      &o);
  sigaction(SIGUSR1, &old, nullptr);
  EXPECT_EQ(o.caught, 6);
  EXPECT_EQ(o.wrong, 0);
}

// As if the signal had come when a switch had made the segment the stack whose limits are in force, but had not written
// these: the segment lies below the stack, the handler's stack below all.
TEST(siglongjmp, out_of_a_switch_half_made_is_seen_on_a_stack_below_the_area) {
  struct sigaction old, action = {};
  action.sa_handler = [](int) { stub_siglongjmp(out_of_handler, 3); };
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR1, &action, &old);
  const watchdog guard;
  const runtime up(1);
  static std::uintptr_t limit;
  static bool below;
  run_small(
      15'000,
      +[](long) {
        call_with_room(
            500, +[](long *) { stub_here(); }, static_cast<long *>(nullptr));
        nth::detail::worker *const w = nth::detail::current_worker();
        constexpr std::size_t bytes = 64 << 10;
        stack_t before;
        const stack_t low = {mmap(reinterpret_cast<void *>(std::uintptr_t{1} << 36), bytes,
                                  PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
                             0, bytes};
        sigaltstack(&low, &before);
        if (sigsetjmp(out_of_handler, 1) == 0) {
          w->edge.here = w->edge.kept;
          below = w->edge.here < top_of(here());
          signal_myself();
        }
        limit = w->limits[0];
        sigaltstack(&before, nullptr);
      },
      0L);
  sigaction(SIGUSR1, &old, nullptr);
  EXPECT_TRUE(below);
  EXPECT_EQ(limit, nth::detail::always_ask);
}

TEST(a_signal_handler, goes_through_stubs_on_its_own_stack) {
  struct sigaction old, action = {};
  action.sa_handler = [](int) {
    descent d{};
    const long before = stats_now().segments_switched;
    handled = handled + (stub_down(30, &d) == 30 && !nth::detail::on_stack(d.lowest_rsp) &&
                         stats_now().segments_switched == before);
  };
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR1, &action, &old);
  handled = 0;
  outcome o{};
  on_segments(
      390,
      +[](outcome *to) {
        descent d{};
        d.deepest = [](descent *) { signal_myself(); };
        to->wrong += stub_down(20, &d) != 20;
      },
      &o);
  sigaction(SIGUSR1, &old, nullptr);
  EXPECT_EQ(handled, 6);
  EXPECT_EQ(o.wrong, 0);
}

// ---- Walks ----

struct frames_found {
  int few = 0;
  int many = 0;
  long switches = 0;
};

TEST(backtrace, sees_the_frames_of_all_segments) {
  frames_found f;
  on_segments(
      17'000,
      +[](frames_found *to) {
        void *frames[64];
        const auto switches = [] {
          const auto *w = nth::detail::current_worker();
          return w->segments_taken + w->edge.hits;
        };
        const long before = switches();
        to->few = stub_walk(0, frames, 64);
        const long between = switches();
        to->many = stub_walk(9, frames, 64);
        to->switches = (switches() - between) - (between - before);
      },
      &f);
  EXPECT_GT(f.switches, 1);
  EXPECT_EQ(f.many - f.few, 9 + f.switches) << "a frame of __morestack for each segment";
}

} // namespace
