// What the kernel is asked for, with each kind of call made to fail.
#include "os/os.hpp"
#include "os/os_failing.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define UNDER_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define UNDER_SANITIZER 1
#endif

namespace nth::detail::os {
namespace {

constexpr std::size_t mib = 1 << 20;

class os_calls : public testing::Test {
protected:
  void SetUp() override { fail_never(); }
  void TearDown() override { fail_never(); }
};

bool readable(const void *address) { // asks the kernel, which does not fault
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const bool result = write(ends[1], address, 1) == 1;
  close(ends[0]);
  close(ends[1]);
  return result;
}

// ---- Address space -------------------------------------------------------------------------------

TEST_F(os_calls, reserved_is_aligned_and_without_access) {
  for (std::size_t alignment : {page_size(), 64 * 1024 * std::size_t{1}, 16 * mib}) {
    char *start = static_cast<char *>(reserve(nullptr, 4 * mib, alignment));
    ASSERT_NE(start, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(start) % alignment, 0U);
    EXPECT_FALSE(readable(start));
    EXPECT_FALSE(readable(start + 4 * mib - 1));
    ASSERT_TRUE(commit(start, mib));
    start[0] = start[mib - 1] = 1;
    EXPECT_FALSE(readable(start + mib));
    discard(start, mib);
    EXPECT_EQ(start[0], 0);
    EXPECT_EQ(start[mib - 1], 0);
    release(start, 4 * mib);
  }
}

TEST_F(os_calls, fixed_reservation_never_replaces) {
  char *start = static_cast<char *>(reserve(nullptr, 4 * mib, mib));
  ASSERT_NE(start, nullptr);
  ASSERT_TRUE(commit(start + mib, mib));
  start[mib] = 7;
  EXPECT_EQ(reserve(start, 4 * mib, mib), nullptr);
  EXPECT_EQ(reserve(start + mib, mib, mib), nullptr);
  EXPECT_EQ(start[mib], 7);
  release(start, 4 * mib);
  EXPECT_EQ(reserve(start, 4 * mib, mib), start);
  release(start, 4 * mib);
}

TEST_F(os_calls, reservation_too_large_for_any_machine) {
  EXPECT_EQ(reserve(nullptr, SIZE_MAX - 4095, 64 * 1024), nullptr);
  EXPECT_EQ(reserve(nullptr, SIZE_MAX / 2 & ~std::size_t{4095}, page_size()), nullptr);
}

TEST_F(os_calls, commit_of_what_is_not_ours_fails) {
  char *start = static_cast<char *>(reserve(nullptr, mib, page_size()));
  ASSERT_NE(start, nullptr);
  release(start, mib);
  EXPECT_FALSE(commit(start, mib));
}

TEST_F(os_calls, locked_memory_is_zeroed_as_well) {
  char *start = static_cast<char *>(map_pages(page_size()));
  ASSERT_NE(start, nullptr);
  if (mlock(start, page_size()) == 0) {
    start[5] = 1;
    discard(start, page_size());
    EXPECT_EQ(start[5], 0);
  }
  unmap_pages(start, page_size());
}

// ---- Guard pages ---------------------------------------------------------------------------------

class guards : public os_calls {
protected:
  void SetUp() override {
    os_calls::SetUp();
    pages = static_cast<char *>(reserve(nullptr, mib, page_size()));
    ASSERT_NE(pages, nullptr);
    ASSERT_TRUE(commit(pages, mib));
  }
  void TearDown() override {
    release(pages, mib);
    os_calls::TearDown();
  }
  void expect_usable() {
    for (std::size_t at = 0; at < mib; at += page_size())
      pages[at] = 1;
  }
  char *pages = nullptr;
};

TEST_F(guards, found_method_guards_one_page) {
  const guard_method method = find_guard_method(pages);
  ASSERT_NE(method, guard_method::none);
  expect_usable();
  EXPECT_TRUE(guard(pages + page_size(), method));
  EXPECT_TRUE(readable(pages));
  EXPECT_FALSE(readable(pages + page_size()));
  EXPECT_TRUE(readable(pages + 2 * page_size()));
}

TEST_F(guards, advice_that_is_ignored_is_not_believed) {
  fails.advice_ignored = true;
  EXPECT_EQ(find_guard_method(pages), guard_method::protect);
  expect_usable();
}

TEST_F(guards, refused_advice_falls_back_to_protection) {
  fail_after(fail_kind::guard, 1, false);
  EXPECT_EQ(find_guard_method(pages), guard_method::protect);
  expect_usable();
}

TEST_F(guards, none_when_all_is_refused) {
  fail_after(fail_kind::guard, 1, true);
  EXPECT_EQ(find_guard_method(pages), guard_method::none);
  EXPECT_FALSE(guard(pages, guard_method::advise));
  EXPECT_FALSE(guard(pages, guard_method::protect));
  fail_never();
  EXPECT_FALSE(guard(pages, guard_method::none));
  expect_usable();
}

std::atomic<int> children_seen{0};
void on_child(int) { ++children_seen; }

TEST_F(guards, proof_leaves_handlers_mask_and_children_alone) {
  struct sigaction fault_before, fault_after, child_before, child_action = {};
  sigset_t mask_before, mask_after;
  ASSERT_EQ(sigaction(SIGSEGV, nullptr, &fault_before), 0);
  child_action.sa_handler = on_child;
  ASSERT_EQ(sigaction(SIGCHLD, &child_action, &child_before), 0);
  ASSERT_EQ(pthread_sigmask(SIG_SETMASK, nullptr, &mask_before), 0);

  EXPECT_NE(find_guard_method(pages), guard_method::none);

  ASSERT_EQ(pthread_sigmask(SIG_SETMASK, nullptr, &mask_after), 0);
  ASSERT_EQ(sigaction(SIGSEGV, nullptr, &fault_after), 0);
  ASSERT_EQ(sigaction(SIGCHLD, &child_before, nullptr), 0);
  for (int number = 1; number < 32; ++number)
    EXPECT_EQ(sigismember(&mask_before, number), sigismember(&mask_after, number)) << number;
  EXPECT_EQ(fault_before.sa_handler, fault_after.sa_handler);
#ifndef UNDER_SANITIZER // a plain fork tells of its end
  EXPECT_EQ(children_seen, 0);
#endif
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG | __WALL), -1) << "a child was left";
  EXPECT_EQ(errno, ECHILD);
}

TEST_F(guards, proof_works_where_children_are_reaped_by_the_kernel) {
  struct sigaction before, ignore = {};
  ignore.sa_handler = SIG_IGN;
  ASSERT_EQ(sigaction(SIGCHLD, &ignore, &before), 0);
  fails.advice_ignored = true; // one page that faults, and one that does not
  EXPECT_EQ(find_guard_method(pages), guard_method::protect);
  ASSERT_EQ(sigaction(SIGCHLD, &before, nullptr), 0);
}

TEST_F(guards, protection_ends_at_its_number) {
  std::size_t size = static_cast<std::size_t>(max_protected_guards + 1) * 2 * page_size();
  char *many = static_cast<char *>(reserve(nullptr, size, page_size()));
  ASSERT_NE(many, nullptr);
  ASSERT_TRUE(commit(many, size));
  find_guard_method(pages);
  long made = 0;
  while (made <= max_protected_guards &&
         guard(many + 2 * static_cast<std::size_t>(made) * page_size(), guard_method::protect))
    ++made;
  EXPECT_EQ(made, max_protected_guards);
  release(many, size);
  find_guard_method(pages);
  EXPECT_TRUE(guard(pages, guard_method::protect)) << "the next run counts anew";
}

// ---- Waiting, barriers, kernel threads -------------------------------------------------------------

struct hand_over {
  std::uint32_t word = 0;
  sigset_t mask = {};
};

void *wait_for_word(void *argument) {
  auto *const to = static_cast<hand_over *>(argument);
  pthread_sigmask(SIG_SETMASK, nullptr, &to->mask);
  while (__atomic_load_n(&to->word, __ATOMIC_ACQUIRE) == 0)
    futex_wait(&to->word, 0);
  return nullptr;
}

TEST_F(os_calls, kernel_thread_waits_and_is_woken) {
  hand_over shared;
  for (std::size_t size : {std::size_t{1}, std::size_t{100'001}, mib}) {
    shared.word = 0;
    const thread_id id = thread_start(wait_for_word, &shared, size);
    ASSERT_NE(id, 0U);
    const std::uint64_t start = now_ns();
    usleep(2000);
    EXPECT_GE(now_ns() - start, 2'000'000U);
    __atomic_store_n(&shared.word, 1, __ATOMIC_RELEASE);
    futex_wake(&shared.word, 1);
    thread_join(id);
  }
  for (int number : {SIGINT, SIGTERM, SIGALRM, SIGUSR1, SIGCHLD, SIGPROF})
    EXPECT_EQ(sigismember(&shared.mask, number), 1) << number;
  for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL})
    EXPECT_EQ(sigismember(&shared.mask, number), 0) << number;
}

TEST_F(os_calls, futex_returns_at_once_when_the_word_differs) {
  std::uint32_t word = 1;
  futex_wait(&word, 0);
}

TEST_F(os_calls, barrier_works_once_registered) {
  if (!barrier_register())
    GTEST_SKIP() << "no membarrier here";
  for (int i = 0; i < 100; ++i)
    barrier_all();
}

TEST_F(os_calls, a_thread_that_cannot_be_started) {
  EXPECT_EQ(thread_start(wait_for_word, nullptr, SIZE_MAX / 2), 0U);
}

// ---- Failure injection -----------------------------------------------------------------------------

TEST_F(os_calls, the_third_call_fails_once) {
  const long before = calls_made(fail_kind::map_pages);
  fail_after(fail_kind::map_pages, 3, false);
  for (int call = 1; call <= 5; ++call) {
    void *page = map_pages(page_size());
    EXPECT_EQ(page == nullptr, call == 3) << call;
    if (page != nullptr)
      unmap_pages(page, page_size());
  }
  EXPECT_EQ(calls_made(fail_kind::map_pages) - before, 5);
}

TEST_F(os_calls, sticky_failure_stays) {
  fail_after(fail_kind::map_pages, 2, true);
  for (int call = 1; call <= 5; ++call) {
    void *page = map_pages(page_size());
    EXPECT_EQ(page == nullptr, call >= 2) << call;
    if (page != nullptr)
      unmap_pages(page, page_size());
  }
}

TEST_F(os_calls, each_kind_can_fail) {
  fail_after(fail_kind::reserve, 1, false);
  EXPECT_EQ(reserve(nullptr, mib, page_size()), nullptr);
  char *start = static_cast<char *>(reserve(nullptr, mib, page_size()));
  ASSERT_NE(start, nullptr);
  fail_after(fail_kind::commit, 1, false);
  EXPECT_FALSE(commit(start, mib));
  EXPECT_FALSE(readable(start));
  EXPECT_TRUE(commit(start, mib));
  fail_after(fail_kind::guard, 1, false);
  EXPECT_FALSE(guard(start, guard_method::protect));
  EXPECT_TRUE(guard(start, guard_method::protect));
  release(start, mib);
  hand_over ready;
  ready.word = 1;
  fail_after(fail_kind::thread_start, 1, false);
  EXPECT_EQ(thread_start(wait_for_word, &ready, mib), 0U);
  const thread_id id = thread_start(wait_for_word, &ready, mib);
  ASSERT_NE(id, 0U);
  thread_join(id);
}

void *map_some(void *failures) {
  for (int i = 0; i < 1000; ++i) {
    if (must_fail(fail_kind::map_pages))
      static_cast<std::atomic<int> *>(failures)->fetch_add(1);
  }
  return nullptr;
}

TEST_F(os_calls, of_many_threads_one_call_fails) {
  std::atomic<int> failures{0};
  fail_after(fail_kind::map_pages, 1500, false);
  thread_id ids[4];
  for (thread_id &id : ids)
    ASSERT_NE(id = thread_start(map_some, &failures, mib), 0U);
  for (thread_id id : ids)
    thread_join(id);
  EXPECT_EQ(failures, 1);
}

} // namespace
} // namespace nth::detail::os
