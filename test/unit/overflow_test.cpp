// A stack that overflows is named; every other fault goes where it would have gone without the library.
#include "os/os.hpp"
#include "os/os_failing.hpp"
#include "os/overflow.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <thread>
#include <ucontext.h>
#include <unistd.h>

// ThreadSanitizer runs every handler under a mask of its own.
#if defined(__SANITIZE_THREAD__)
constexpr bool masks_are_the_kernels = false;
#elif defined(__has_feature)
constexpr bool masks_are_the_kernels = !__has_feature(thread_sanitizer);
#else
constexpr bool masks_are_the_kernels = true;
#endif

extern "C" void nth_test_root() {}

// Not inlined and not a loop: each call takes its frame.
extern "C" [[gnu::noinline]] int nth_test_deep_recursion(int depth) {
  volatile char frame[200];
  frame[0] = static_cast<char>(depth);
  const int below = depth == 0 ? 0 : nth_test_deep_recursion(depth - 1);
  return below + frame[0];
}

namespace nth::detail::os {
namespace {

constexpr std::size_t stack_bytes = 64 * 1024;

// ---- An area of one stack: a guard page, the stack, and a page without access that is no guard ------

char *area = nullptr;
fault_place answer = {};

std::size_t area_bytes() { return 2 * page_size() + stack_bytes; }
char *not_a_guard() { return area + page_size() + stack_bytes; }

fault_place locate(std::uintptr_t address) noexcept {
  const auto start = reinterpret_cast<std::uintptr_t>(area);
  fault_place place = answer;
  place.in_area = area != nullptr && address - start < area_bytes();
  place.in_guard = place.in_area && address - start < page_size();
  place.stack_bottom = start + page_size();
  return place;
}

void make_area() {
  area = static_cast<char *>(reserve(nullptr, area_bytes(), page_size()));
  if (area == nullptr || !commit(area + page_size(), stack_bytes))
    std::abort();
  answer.thread = reinterpret_cast<const void *>(0x12340);
  answer.root = reinterpret_cast<const void *>(&nth_test_root);
  answer.generation = 3;
  answer.stack_size = stack_bytes;
}

ucontext_t main_context, deep_context;
int depth_wanted;
void go_deep() { nth_test_deep_recursion(depth_wanted); }

[[noreturn]] void overflow_here() {
  make_area();
  if (!alternate_stack_set() || !overflow_install(locate))
    std::exit(3);
  depth_wanted = 1000000;
  getcontext(&deep_context);
  deep_context.uc_stack.ss_sp = area + page_size();
  deep_context.uc_stack.ss_size = stack_bytes;
  deep_context.uc_link = &main_context;
  makecontext(&deep_context, go_deep, 0);
  swapcontext(&main_context, &deep_context);
  std::exit(4);
}

TEST(overflow_death, is_named_with_what_to_do) {
  EXPECT_EXIT(
      overflow_here(), testing::KilledBySignal(SIGABRT),
      "nth: stack overflow in thread 0x12340 \\(generation 3\\), root .+: its stack of 65536 bytes was "
      "overrun by at least [0-9]+ bytes in .+\\. Set NTH_STACK_SIZE=131072 or more");
}

void touch(char *page) { *static_cast<volatile char *>(page) = 1; }

void touch_guard(const void *thread, std::size_t stack_size) {
  make_area();
  answer.thread = thread;
  answer.stack_size = stack_size;
  if (overflow_install(locate))
    touch(area + page_size() - 100);
}

TEST(overflow_death, of_the_scheduler_and_of_the_largest_stack) {
  EXPECT_EXIT(touch_guard(nullptr, stack_bytes), testing::KilledBySignal(SIGABRT),
              "stack overflow in a worker's scheduler loop: .* by at least 100 bytes");
  EXPECT_EXIT(touch_guard(&area, 1 << 20), testing::KilledBySignal(SIGABRT),
              "1048576 bytes was overrun .*\\. Give the thread less to do");
}

// ---- Handing on: each case in a process of its own, which starts from what the kernel does ------------

void expect(bool condition, const char *what) {
  if (condition)
    return;
  std::fprintf(stderr, "failed: %s\n", what);
  std::_Exit(9);
}
#define CHECK(condition) expect(condition, #condition)

void set_handler(int number, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  CHECK(sigaction(number, &action, nullptr) == 0);
}

void install_over(void (*handler)(int)) {
  make_area();
  set_handler(SIGSEGV, handler);
  set_handler(SIGBUS, handler);
  CHECK(overflow_install(locate));
}

[[noreturn]] void done() { std::_Exit(0); }
const auto dies_of_fault = testing::KilledBySignal(SIGSEGV);
const auto passes = testing::ExitedWithCode(0);

TEST(hand_on_death, default_action) {
  EXPECT_EXIT((install_over(SIG_DFL), touch(not_a_guard()), done()), dies_of_fault, "");
  EXPECT_EXIT((install_over(SIG_DFL), raise(SIGSEGV), done()), dies_of_fault, "");
  EXPECT_EXIT((install_over(SIG_DFL), raise(SIGBUS), done()), testing::KilledBySignal(SIGBUS), "");
}

TEST(hand_on_death, ignored) {
  EXPECT_EXIT((install_over(SIG_IGN), touch(not_a_guard()), done()), dies_of_fault, "");
  EXPECT_EXIT((install_over(SIG_IGN), raise(SIGSEGV), raise(SIGSEGV), done()), passes, "");
}

sigjmp_buf back;
volatile int times = 0;
void *volatile fault_address = nullptr;
int mask_has_usr1 = -1, mask_has_segv = -1;

void see_mask() {
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  mask_has_usr1 = sigismember(&mask, SIGUSR1);
  mask_has_segv = sigismember(&mask, SIGSEGV);
}

void plain_handler(int) {
  times = times + 1;
  see_mask();
  siglongjmp(back, 1);
}

void informed_handler(int number, siginfo_t *info, void *context) {
  CHECK(number == SIGSEGV && context != nullptr);
  fault_address = info->si_addr;
  plain_handler(number);
}

void fault_and_come_back(char *page) {
  if (sigsetjmp(back, 1) == 0)
    touch(page);
}

TEST(hand_on_death, plain_handler_as_often_as_it_faults) {
  EXPECT_EXIT(
      {
        CHECK(alternate_stack_set());
        install_over(plain_handler);
        for (int i = 1; i <= 3; ++i) {
          fault_and_come_back(not_a_guard());
          CHECK(times == i);
        }
        CHECK(!masks_are_the_kernels || (mask_has_segv == 1 && mask_has_usr1 == 0));
        done();
      },
      passes, "");
}

TEST(hand_on_death, informed_handler_with_its_mask) {
  EXPECT_EXIT(
      {
        struct sigaction action = {};
        action.sa_sigaction = informed_handler;
        action.sa_flags = SA_SIGINFO | SA_NODEFER;
        sigaddset(&action.sa_mask, SIGUSR1);
        CHECK(sigaction(SIGSEGV, &action, nullptr) == 0);
        make_area();
        CHECK(overflow_install(locate));
        fault_and_come_back(not_a_guard() + 5);
        CHECK(times == 1 && fault_address == not_a_guard() + 5);
        CHECK(!masks_are_the_kernels || (mask_has_usr1 == 1 && mask_has_segv == 0));
        see_mask();
        CHECK(mask_has_usr1 == 0);
        done();
      },
      passes, "");
}

void returning_handler(int) {
  times = times + 1;
  errno = 77;
}

TEST(hand_on_death, sent_signal_reaches_a_handler_that_returns) {
  EXPECT_EXIT(
      {
        install_over(returning_handler);
        errno = 5;
        raise(SIGSEGV);
        CHECK(times == 1 && errno == 5);
        done();
      },
      passes, "");
}

TEST(hand_on_death, uninstalled_is_as_before) {
  EXPECT_EXIT(
      {
        install_over(plain_handler);
        overflow_uninstall();
        struct sigaction now;
        CHECK(sigaction(SIGSEGV, nullptr, &now) == 0 && now.sa_handler == plain_handler);
        CHECK(overflow_install(locate));
        fault_and_come_back(not_a_guard());
        CHECK(times == 1);
        done();
      },
      passes, "");
}

// A program's handler, set while the run-time is up, that calls what it found.
struct sigaction found = {};
void later_handler(int number, siginfo_t *info, void *context) {
  times = times + 10;
  found.sa_sigaction(number, info, context);
}

void set_later_handler() {
  struct sigaction later = {};
  later.sa_sigaction = later_handler;
  later.sa_flags = SA_SIGINFO | SA_ONSTACK;
  CHECK(sigaction(SIGSEGV, &later, &found) == 0);
  CHECK((found.sa_flags & SA_SIGINFO) != 0);
}

TEST(hand_on_death, handler_set_over_ours_stays_and_no_circle_arises) {
  EXPECT_EXIT(
      {
        install_over(plain_handler);
        set_later_handler();
        overflow_uninstall();
        struct sigaction now;
        CHECK(sigaction(SIGSEGV, nullptr, &now) == 0 && now.sa_sigaction == later_handler);
        fault_and_come_back(not_a_guard()); // the run-time is down
        CHECK(times == 11);
        CHECK(overflow_install(locate));
        fault_and_come_back(not_a_guard()); // and up again
        CHECK(times == 22);
        done();
      },
      passes, "");
}

TEST(hand_on_death, overflow_is_reported_under_a_handler_set_over_ours) {
  EXPECT_EXIT((install_over(SIG_DFL), set_later_handler(), touch(area), done()),
              testing::KilledBySignal(SIGABRT), "nth: stack overflow");
}

TEST(hand_on_death, down_means_no_report) {
  EXPECT_EXIT((install_over(SIG_DFL), set_later_handler(), overflow_uninstall(), touch(area), done()),
              dies_of_fault, "^$");
}

// ---- Alternate stacks ------------------------------------------------------------------------------

stack_t current_alternate_stack() {
  stack_t now = {};
  EXPECT_EQ(sigaltstack(nullptr, &now), 0);
  return now;
}

void drop_alternate_stack() { // a sanitizer gives one to each kernel thread
  stack_t none = {};
  none.ss_flags = SS_DISABLE;
  EXPECT_EQ(sigaltstack(&none, nullptr), 0);
}

template <class F>
void without_alternate_stack(F body) {
  std::thread([&] {
    const stack_t before = current_alternate_stack();
    drop_alternate_stack();
    body();
    EXPECT_EQ(sigaltstack(&before, nullptr), 0);
  }).join();
}

TEST(alternate_stack, is_set_once_and_dropped) {
  without_alternate_stack([] {
    ASSERT_TRUE(alternate_stack_set());
    const stack_t first = current_alternate_stack();
    EXPECT_EQ(first.ss_flags & SS_DISABLE, 0);
    EXPECT_GE(first.ss_size, 64 * 1024U);
    ASSERT_TRUE(alternate_stack_set());
    EXPECT_EQ(current_alternate_stack().ss_sp, first.ss_sp);
    alternate_stack_drop();
    EXPECT_NE(current_alternate_stack().ss_flags & SS_DISABLE, 0);
    alternate_stack_drop();
  });
}

TEST(alternate_stack, of_the_program_is_kept) {
  without_alternate_stack([] {
    static char memory[65536];
    stack_t own = {};
    own.ss_sp = memory;
    own.ss_size = sizeof memory;
    ASSERT_EQ(sigaltstack(&own, nullptr), 0);
    ASSERT_TRUE(alternate_stack_set());
    alternate_stack_drop();
    EXPECT_EQ(current_alternate_stack().ss_sp, memory);
  });
}

TEST(alternate_stack, set_by_the_program_after_ours_is_kept) {
  without_alternate_stack([] {
    static char memory[65536];
    ASSERT_TRUE(alternate_stack_set());
    stack_t own = {};
    own.ss_sp = memory;
    own.ss_size = sizeof memory;
    ASSERT_EQ(sigaltstack(&own, nullptr), 0);
    alternate_stack_drop();
    EXPECT_EQ(current_alternate_stack().ss_sp, memory);
  });
}

TEST(alternate_stack, without_memory) {
  without_alternate_stack([] {
    fail_after(fail_kind::map_pages, 1, false);
    EXPECT_FALSE(alternate_stack_set());
    EXPECT_NE(current_alternate_stack().ss_flags & SS_DISABLE, 0);
    fail_never();
  });
}

} // namespace
} // namespace nth::detail::os
