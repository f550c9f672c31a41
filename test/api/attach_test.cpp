// Kernel threads that are no workers: they get a descriptor, are successors and wait as threads do.
#include "../support/runtime.hpp"

#include <atomic>
#include <cerrno>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace nth::test;

namespace {

class attach : public testing::Test {
protected:
  const watchdog guard;
  const runtime up{2};
};

TEST_F(attach, once_at_a_time) {
  ASSERT_NE(nth_attach(), nullptr);
  errno = 0;
  EXPECT_EQ(nth_attach(), nullptr);
  EXPECT_EQ(errno, EBUSY);
  EXPECT_EQ(nth_detach(), NTH_OK);
  EXPECT_EQ(nth_detach(), NTH_ESTATE);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_NE(nth_attach(), nullptr);
    ASSERT_EQ(nth_detach(), NTH_OK);
  }
}

TEST_F(attach, waits_for_threads) {
  nth_desc *self = nth_attach();
  ASSERT_NE(self, nullptr);
  std::atomic<int> ended = 0;
  auto body = [&] { ++ended; };
  for (int round = 1; round <= 100; ++round) {
    nth_depadd(self, 11);
    for (int i = 0; i < 10; ++i)
      nth_to_lrq(i % kthreads, create(body, self));
    nth_block();
    EXPECT_EQ(ended, 10 * round);
  }
  EXPECT_EQ(nth_detach(), NTH_OK);
}

TEST_F(attach, sleeps_while_it_waits) {
  nth_desc *self = nth_attach();
  ASSERT_NE(self, nullptr);
  auto body = [] { usleep(100 * 1000); };
  nth_depadd(self, 2);
  nth_to_lrq(0, create(body, self));
  timespec before, after;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
  nth_block();
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
  const long used = (after.tv_sec - before.tv_sec) * 1000000000 + (after.tv_nsec - before.tv_nsec);
  EXPECT_LT(used, 50 * 1000 * 1000) << "nanoseconds of processor time in 100 ms of waiting";
  EXPECT_EQ(nth_detach(), NTH_OK);
}

TEST_F(attach, is_woken_by_unblock) {
  nth_desc *self = nth_attach();
  ASSERT_NE(self, nullptr);
  const nth_handle_t handle = nth_handle(self);
  EXPECT_EQ(nth_unblock(handle), NTH_OK);
  nth_block(); // the remembered one
  std::atomic<bool> woken = false;
  auto waker = [&] {
    usleep(10 * 1000);
    woken = true;
    EXPECT_EQ(nth_unblock(handle), NTH_OK);
  };
  nth_desc *thread = create(waker);
  const nth_handle_t child = nth_handle(thread);
  nth_to_lrq_end(1, thread);
  nth_block();
  EXPECT_TRUE(woken);
  EXPECT_EQ(nth_detach(), NTH_OK);
  EXPECT_EQ(nth_unblock(handle), NTH_ESTALE);
  spin_until([&] { return nth_alive(child) == 0; });
}

TEST_F(attach, tries_to_block) {
  nth_desc *self = nth_attach();
  ASSERT_NE(self, nullptr);
  int ended = 0;
  auto body = [&] { ++ended; };
  nth_depadd(self, 2);
  nth_to_lrq(0, create(body, self));
  EXPECT_EQ(nth_try_block(), NTH_OK);
  EXPECT_EQ(ended, 1);
  EXPECT_EQ(nth_detach(), NTH_OK);
}

TEST_F(attach, keeps_its_descriptor_while_dependencies_are_left) {
  nth_desc *self = nth_attach();
  ASSERT_NE(self, nullptr);
  auto body = [] {};
  nth_depadd(self, 2);
  nth_desc *thread = create(body, self);
  EXPECT_EQ(nth_detach(), NTH_EBUSY);
  nth_to_lrq(0, thread);
  nth_block();
  EXPECT_EQ(nth_detach(), NTH_OK);
}

TEST_F(attach, several_at_once) {
  std::atomic<int> total = 0;
  std::vector<std::thread> kernel_threads;
  const int rounds = under_tsan ? 20 : 500;
  for (int k = 0; k < 8; ++k)
    kernel_threads.emplace_back([&] {
      nth_desc *self = nth_attach();
      ASSERT_NE(self, nullptr);
      int mine = 0;
      auto body = [&] { mine += 1; };
      for (int i = 1; i <= rounds; ++i) {
        nth_depadd(self, 2);
        nth_to_lrq_end(i % kthreads, create(body, self));
        nth_block();
        EXPECT_EQ(mine, i);
      }
      total += mine;
      EXPECT_EQ(nth_detach(), NTH_OK);
    });
  for (std::thread &one : kernel_threads)
    one.join();
  EXPECT_EQ(total, 8 * rounds);
}

} // namespace
