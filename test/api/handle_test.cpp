// Who am I: nth_self, nth_worker; and handles, which tell a thread from the next one of its descriptor.
#include "../support/runtime.hpp"

#include <atomic>
#include <set>
#include <thread>
#include <vector>

using namespace nth::test;

namespace {

class handle : public testing::TestWithParam<nth_policy> {};

TEST(handle, of_nothing) {
  const nth_handle_t none = nth_handle(nullptr);
  EXPECT_EQ(none.thread, nullptr);
  EXPECT_EQ(none.generation, 0u);
  const runtime up(1);
  EXPECT_EQ(nth_alive(nth_handle(nullptr)), 0);
  EXPECT_NE(nth_unblock(nth_handle(nullptr)), NTH_OK);
}

TEST_P(handle, lives_from_creation_to_end) {
  const watchdog guard;
  const runtime up(1, GetParam());
  run([] {
    const nth_handle_t mine = nth_handle(nth_self());
    EXPECT_EQ(mine.thread, nth_self());
    EXPECT_EQ(nth_alive(mine), 1);
    nth_handle_t child = {};
    int alive_inside = -1;
    auto body = [&] { alive_inside = nth_alive(child); };
    nth_depadd(nth_self(), 2);
    nth_desc *thread = create(body, nth_self());
    child = nth_handle(thread);
    EXPECT_EQ(nth_alive(child), 1) << "created";
    nth_to_lrq(0, thread);
    EXPECT_EQ(nth_alive(child), 1) << "enqueued";
    nth_block();
    EXPECT_EQ(alive_inside, 1);
    EXPECT_EQ(nth_alive(child), 0) << "ended";
    EXPECT_EQ(nth_unblock(child), NTH_ESTALE);
  });
}

// Descriptors are used again; no use has the handle of an earlier one, and old handles stay stale.
TEST_P(handle, differs_for_each_use_of_a_descriptor) {
  const watchdog guard;
  const runtime up(2, GetParam());
  const int rounds = under_tsan ? 200 : 2000;
  run([&] {
    std::set<std::pair<nth_desc *, unsigned>> seen;
    std::vector<nth_handle_t> old;
    auto body = [] {};
    std::set<nth_desc *> descriptors;
    for (int i = 0; i < rounds; ++i) {
      nth_depadd(nth_self(), 2);
      nth_desc *thread = create(body, nth_self());
      const nth_handle_t one = nth_handle(thread);
      EXPECT_TRUE(seen.insert({one.thread, one.generation}).second);
      descriptors.insert(thread);
      old.push_back(one);
      nth_to_lrq(i % kthreads, thread);
      nth_block();
    }
    // Some descriptor has certainly been used again by now.
    for (int i = 0; i < 3; ++i)
      for (const nth_handle_t &one : old)
        EXPECT_EQ(nth_alive(one), 0);
    EXPECT_EQ(nth_unblock(old.front()), NTH_ESTALE);
  });
}

TEST_P(handle, self_differs_between_live_threads) {
  const watchdog guard;
  const runtime up(4, GetParam());
  constexpr int width = 200;
  run([] {
    std::vector<nth_desc *> made(width), found(width), found_after(width);
    const auto note = [](nth_desc **before, nth_desc **after) {
      *before = nth_self();
      nth_yield();
      *after = nth_self();
    };
    nth_depadd(nth_self(), width + 1);
    for (size_t i = 0; i < width; ++i) {
      made[i] = nth_create_ls(+note, 0, nth_self(), 2, &found[i], &found_after[i]);
    }
    for (size_t i = 0; i < width; ++i)
      nth_to_lrq_end(static_cast<int>(i) % kthreads, made[i]);
    nth_desc *const self = nth_self();
    nth_block();
    EXPECT_EQ(nth_self(), self);
    EXPECT_EQ(found, made);
    EXPECT_EQ(found_after, made);
    EXPECT_EQ(std::set<nth_desc *>(made.begin(), made.end()).size(), made.size());
  });
}

INSTANTIATE_TEST_SUITE_P(policies, handle, testing::ValuesIn(all_policies),
                         [](const auto &test) { return name_of(test.param); });

TEST(identity, outside) {
  EXPECT_EQ(nth_self(), nullptr);
  EXPECT_EQ(nth_worker(), -1);
  const runtime up(2);
  EXPECT_EQ(nth_self(), nullptr);
  EXPECT_EQ(nth_worker(), -1);
  ASSERT_NE(nth_attach(), nullptr);
  EXPECT_EQ(nth_self(), nullptr) << "an attached kernel thread is still no nano-thread";
  EXPECT_EQ(nth_worker(), -1);
  EXPECT_EQ(nth_detach(), NTH_OK);
  std::thread([] {
    EXPECT_EQ(nth_self(), nullptr);
    EXPECT_EQ(nth_worker(), -1);
  }).join();
}

TEST(identity, worker_is_the_kernel_thread) {
  const watchdog guard;
  const runtime up(3);
  std::vector<std::atomic<std::thread::id>> kernel_thread_of(3);
  std::atomic<int> mismatches = 0;
  auto body = [&] {
    for (int i = 0; i < 20; ++i) {
      const int worker = nth_worker();
      if (worker < 0 || worker >= 3) {
        ++mismatches;
        return;
      }
      const std::thread::id me = std::this_thread::get_id();
      std::thread::id before = {};
      if (!kernel_thread_of[static_cast<size_t>(worker)].compare_exchange_strong(before, me) && before != me)
        ++mismatches;
      nth_yield();
    }
  };
  run([&] {
    nth_depadd(nth_self(), 301);
    for (int i = 0; i < 300; ++i)
      nth_to_lrq_end(i % 3, create(body, nth_self()));
    nth_block();
  });
  EXPECT_EQ(mismatches, 0);
}

} // namespace
