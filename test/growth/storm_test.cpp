// Signals that come anywhere: between two instructions of a stub, of __morestack, of a switch. Their handlers run on
// the alternate stack, and go through stubs there.
#include "on_segments.hpp"

#include "../support/size.hpp"

#include <atomic>
#include <csignal>
#include <cstring>
#include <sys/mman.h>
#include <thread>
#include <ucontext.h>

using namespace nth::test;

namespace {

const long signals = pick_size(0, 10'000, 100'000);
constexpr long enough = 100;

std::atomic<long> handled, wrong, in_switch, in_pool, jumped;
std::atomic<bool> ready, finished;
std::atomic<pthread_t> victim;
sigjmp_buf out;
bool jumps;

std::uintptr_t address_of(void (*f)()) { return reinterpret_cast<std::uintptr_t>(f); }

// Code that a jump may leave at any instruction: the stubs and __morestack behind them, and the switch in libnth that
// is assembly.
bool in_stubs(std::uintptr_t ip) {
  const auto pool = reinterpret_cast<std::uintptr_t>(&nth_growth_program) +
                    static_cast<std::uintptr_t>(nth_growth_program.pool);
  return ip - pool < std::uintptr_t{nth_growth_program.stubs} * NTH_STUB_SIZE + 512;
}
bool in_enter_or_leave(std::uintptr_t ip) {
  // Bytes of them before they call enter.cpp.
  constexpr std::uintptr_t way_in = 0x168, way_out = 0xbe;
  return ip - address_of(reinterpret_cast<void (*)()>(nth_growth_enter)) < way_in ||
         ip - address_of(nth_growth_leave) < way_out;
}

void on_signal(int, siginfo_t *, void *context) {
  const auto ip =
      static_cast<std::uintptr_t>(static_cast<const ucontext_t *>(context)->uc_mcontext.gregs[REG_RIP]);
  handled.fetch_add(1, std::memory_order_relaxed);
  descent d{};
  if (stub_down(5, &d) != 5 || nth::detail::on_stack(d.lowest_rsp))
    ++wrong;
  in_switch += in_enter_or_leave(ip);
  in_pool += in_stubs(ip);
  if (jumps && (in_stubs(ip) || in_enter_or_leave(ip))) {
    ++jumped;
    stub_siglongjmp(out, 1);
  }
}

// On the edge of a stack: one switch after the other, now and then a chain of them and an exception.
void work(long) {
  if (jumps)
    sigsetjmp(out, 1);
  // Chance decides where they come: on until enough have come where it matters.
  for (long i = 0;
       handled.load(std::memory_order_relaxed) < signals || in_switch < enough || in_pool < enough; ++i) {
    const std::uintptr_t sp = stub_here();
    wrong += nth::detail::top_of(sp) == nth::detail::top_of(here());
    if (i % 64 != 0 || jumps)
      continue;
    descent d{};
    wrong += stub_down(40, &d) != 40;
    if (i % 1024 == 0) {
      try {
        stub_through(1, 5);
      } catch (int value) {
        wrong += value != 5;
      }
    }
  }
}

// Handlers may be on a stack on a lower address than all of the area.
bool on_low_stack;
constexpr std::size_t low_bytes = 64 << 10;
void *low_stack() {
  static void *const at = mmap(reinterpret_cast<void *>(std::uintptr_t{1} << 36), low_bytes,
                               PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return at;
}

void be_the_victim(long room) {
  const sigset_t mask = [] {
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    return one;
  }();
  pthread_sigmask(SIG_UNBLOCK, &mask, nullptr);
  const stack_t low = {low_stack(), 0, low_bytes};
  stack_t before;
  if (on_low_stack)
    sigaltstack(&low, &before);
  victim = pthread_self();
  ready = true;
  call_with_room(
      room, +[](long *) { work(0); }, static_cast<long *>(nullptr));
  pthread_sigmask(SIG_BLOCK, &mask, nullptr);
  if (on_low_stack)
    sigaltstack(&before, nullptr);
  finished = true;
}

class storm : public testing::TestWithParam<std::tuple<nth_policy, bool>> {
protected:
  void SetUp() override {
    struct sigaction action = {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_ONSTACK | SA_SIGINFO;
    sigaction(SIGUSR1, &action, &before);
    handled = wrong = in_switch = in_pool = jumped = 0;
    ready = finished = false;
  }
  void TearDown() override { sigaction(SIGUSR1, &before, nullptr); }
  static void rage() {
    const watchdog guard(250);
    const runtime up(1, std::get<0>(GetParam()));
    std::thread sender([] {
      while (!ready)
        sched_yield();
      while (!finished)
        pthread_kill(victim, SIGUSR1);
    });
    on_low_stack = std::get<1>(GetParam());
    EXPECT_LT(reinterpret_cast<std::uintptr_t>(low_stack()), nth::detail::the_limits.base);
    if (std::get<1>(GetParam()))
      run_small(15'000, be_the_victim, 500L); // its segments lie below, for their class is smaller
    else
      run([] { be_the_victim(500); });
    sender.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_GE(handled, signals);
    EXPECT_GE(in_switch, enough);
    EXPECT_GE(in_pool, enough);
    expect_no_segments(1);
    std::printf("%ld signals, %ld in enter or leave, %ld in stubs and __morestack, %ld jumps\n",
                handled.load(), in_switch.load(), in_pool.load(), jumped.load());
  }
  struct sigaction before = {};
};

TEST_P(storm, of_signals_anywhere) {
  jumps = false;
  rage();
}

TEST_P(storm, whose_handlers_jump_out_of_switches) {
  jumps = true;
  rage();
  EXPECT_GE(jumped, 2 * enough);
}

INSTANTIATE_TEST_SUITE_P(policies, storm, testing::Combine(testing::ValuesIn(all_policies), testing::Bool()),
                         [](const auto &test) {
                           return std::string(name_of(std::get<0>(test.param))) +
                                  (std::get<1>(test.param) ? "_small" : "_default");
                         });

} // namespace
