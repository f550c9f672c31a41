// What stands for sigaction, signal and their kind in patched programs: handlers run on the alternate stack.
#include "support.hpp"

#include <csignal>
#include <cstring>

using namespace nth::test;

namespace {

volatile std::uintptr_t handler_rsp;
volatile long handled;

void handler(int) {
  handler_rsp = here();
  handled = handled + 1;
  stub_here();
}
void informed(int, siginfo_t *info, void *) { handled = handled + (info != nullptr); }

struct sigaction action_of(int number) {
  struct sigaction now = {};
  EXPECT_EQ(sigaction(number, nullptr, &now), 0);
  return now;
}

class a_signal : public testing::Test {
protected:
  void SetUp() override { ASSERT_EQ(sigaction(SIGUSR1, nullptr, &before), 0); }
  void TearDown() override { sigaction(SIGUSR1, &before, nullptr); }
  struct sigaction before = {};
};

void expect_on_alternate_stack() {
  const watchdog guard;
  for (const nth_policy policy : all_policies) {
    const runtime up(1, policy);
    handled = 0;
    run_small(
        500,
        +[](long) {
          sigset_t one;
          sigemptyset(&one);
          sigaddset(&one, SIGUSR1);
          pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
          raise(SIGUSR1);
        },
        0L);
    EXPECT_EQ(handled, 1);
    EXPECT_FALSE(nth::detail::on_stack(handler_rsp)) << "on the stack of the thread";
  }
}

TEST_F(a_signal, by_sigaction) {
  struct sigaction action = {}, old = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaddset(&action.sa_mask, SIGUSR2);
  ASSERT_EQ(nth_growth_sigaction(SIGUSR1, &action, &old), 0);
  EXPECT_EQ(old.sa_handler, before.sa_handler);
  EXPECT_EQ(action.sa_flags, SA_RESTART) << "the caller's own";
  const struct sigaction now = action_of(SIGUSR1);
  EXPECT_EQ(now.sa_flags & (SA_RESTART | SA_ONSTACK), SA_RESTART | SA_ONSTACK);
  EXPECT_EQ(sigismember(&now.sa_mask, SIGUSR2), 1);
  EXPECT_EQ(nth_growth_sigaction(SIGUSR1, nullptr, &old), 0);
  EXPECT_EQ(old.sa_handler, handler);
  expect_on_alternate_stack();
  action.sa_sigaction = informed;
  action.sa_flags = SA_SIGINFO;
  ASSERT_EQ(nth_growth_sigaction(SIGUSR1, &action, nullptr), 0);
  EXPECT_EQ(action_of(SIGUSR1).sa_flags & (SA_SIGINFO | SA_ONSTACK), SA_SIGINFO | SA_ONSTACK);
  handled = 0;
  raise(SIGUSR1);
  EXPECT_EQ(handled, 1);
  action.sa_handler = SIG_IGN;
  action.sa_flags = 0;
  ASSERT_EQ(nth_growth_sigaction(SIGUSR1, &action, nullptr), 0);
  EXPECT_EQ(action_of(SIGUSR1).sa_flags & SA_ONSTACK, 0);
  EXPECT_EQ(nth_growth_sigaction(SIGKILL, &action, nullptr), -1);
}

TEST_F(a_signal, by_signal) {
  EXPECT_EQ(nth_growth_signal(SIGUSR1, handler), before.sa_handler);
  const struct sigaction now = action_of(SIGUSR1);
  EXPECT_EQ(now.sa_flags & (SA_RESTART | SA_ONSTACK | SA_SIGINFO), SA_RESTART | SA_ONSTACK);
  EXPECT_EQ(sigismember(&now.sa_mask, SIGUSR1), 1);
  expect_on_alternate_stack();
  EXPECT_EQ(nth_growth_signal(SIGUSR1, SIG_IGN), handler);
  EXPECT_EQ(nth_growth_signal(SIGUSR1, SIG_DFL), SIG_IGN);
  EXPECT_EQ(nth_growth_signal(SIGKILL, handler), SIG_ERR);
  EXPECT_EQ(nth_growth_signal(1000, handler), SIG_ERR);
}

// The two as the C library itself has them, but for the stack.
TEST_F(a_signal, as_the_C_library_does_it) {
  constexpr int shown = static_cast<int>(SA_RESETHAND) | SA_NODEFER | SA_RESTART | SA_SIGINFO | SA_ONSTACK;
  ASSERT_NE(signal(SIGUSR1, handler), SIG_ERR);
  struct sigaction real = action_of(SIGUSR1);
  nth_growth_signal(SIGUSR1, handler);
  struct sigaction now = action_of(SIGUSR1);
  EXPECT_EQ(now.sa_flags & shown, (real.sa_flags & shown) | SA_ONSTACK);
  EXPECT_EQ(sigismember(&now.sa_mask, SIGUSR1), sigismember(&real.sa_mask, SIGUSR1));
  ASSERT_NE(sysv_signal(SIGUSR1, handler), SIG_ERR);
  real = action_of(SIGUSR1);
  EXPECT_EQ(nth_growth_sysv_signal(SIGUSR1, handler), handler);
  now = action_of(SIGUSR1);
  EXPECT_EQ(now.sa_flags, real.sa_flags | SA_ONSTACK);
  EXPECT_EQ(sigismember(&now.sa_mask, SIGUSR1), sigismember(&real.sa_mask, SIGUSR1));
}

TEST_F(a_signal, by_sigset_is_held_and_let_go) {
  EXPECT_EQ(nth_growth_sigset(SIGUSR1, handler), before.sa_handler);
  EXPECT_EQ(action_of(SIGUSR1).sa_flags & (SA_ONSTACK | SA_RESTART), SA_ONSTACK);
  EXPECT_EQ(nth_growth_sigset(SIGUSR1, SIG_HOLD), handler);
  handled = 0;
  raise(SIGUSR1);
  EXPECT_EQ(handled, 0);
  EXPECT_EQ(nth_growth_sigset(SIGUSR1, SIG_HOLD), SIG_HOLD);
  EXPECT_EQ(nth_growth_sigset(SIGUSR1, handler), SIG_HOLD);
  EXPECT_EQ(handled, 1);
  EXPECT_EQ(nth_growth_sigset(SIGUSR1, handler), handler);
  EXPECT_EQ(nth_growth_sigset(1000, handler), SIG_ERR);
}

} // namespace
