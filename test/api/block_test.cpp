// nth_block and nth_unblock: with dependencies, without, before, after, late, from elsewhere, by the thousand.
#include "../support/runtime.hpp"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

using namespace nth::test;

namespace {

struct shape {
  nth_policy policy;
  int workers;
};
void PrintTo(const shape &one, std::ostream *out) { *out << name_of(one.policy) << one.workers; }

class block : public testing::TestWithParam<shape> {
protected:
  const watchdog guard;
  const runtime up{GetParam().workers, GetParam().policy};
};

TEST_P(block, waits_for_dependencies) {
  run([] {
    std::atomic<int> ended = 0;
    auto body = [&] { ++ended; };
    for (const int width : {1, 2, 10, 1000}) {
      ended = 0;
      nth_depadd(nth_self(), width + 1);
      for (int i = 0; i < width; ++i)
        nth_to_lrq(i % kthreads, create(body, nth_self()));
      nth_block();
      EXPECT_EQ(ended, width);
    }
  });
}

TEST_P(block, gives_up_its_own_dependency) {
  run([] {
    for (int i = 0; i < 100; ++i) {
      nth_depadd(nth_self(), 1);
      nth_block();
    }
  });
}

TEST_P(block, adds_dependencies_in_several_calls) {
  run([] {
    std::atomic<int> ended = 0;
    auto body = [&] { ++ended; };
    nth_depadd(nth_self(), 1);
    for (int i = 0; i < 100; ++i) {
      nth_depadd(nth_self(), 1);
      nth_to_lrq_end(i % kthreads, create(body, nth_self()));
      nth_depadd(nth_self(), 0);
      if (i % 10 == 9)
        nth_yield(); // children may end while the caller still runs
    }
    nth_block();
    EXPECT_EQ(ended, 100);
  });
}

TEST_P(block, tries_with_the_same_effect) {
  run([] {
    std::atomic<int> ended = 0;
    auto body = [&] { ++ended; };
    nth_depadd(nth_self(), 2);
    nth_to_lrq(nth_worker(), create(body, nth_self()));
    EXPECT_EQ(nth_try_block(), NTH_OK);
    EXPECT_EQ(ended, 1);
  });
}

TEST_P(block, remembers_one_unblock) {
  run([] {
    const nth_handle_t mine = nth_handle(nth_self());
    EXPECT_EQ(nth_unblock(mine), NTH_OK);
    EXPECT_EQ(nth_unblock(mine), NTH_OK);
    nth_block(); // the remembered one
    std::atomic<bool> woken = false;
    auto waker = [&] {
      woken = true;
      EXPECT_EQ(nth_unblock(mine), NTH_OK);
    };
    nth_desc *thread = create(waker);
    const nth_handle_t child = nth_handle(thread);
    nth_to_lrq(nth_worker(), thread);
    nth_block(); // one was remembered, not two
    EXPECT_TRUE(woken);
    while (nth_alive(child) != 0)
      nth_yield();
  });
}

TEST_P(block, goes_on_after_an_unblock) {
  run([] {
    int turns = 0;
    const auto sleeper = [](int *count) {
      for (int i = 0; i < 1000; ++i) {
        nth_block();
        ++*count;
        EXPECT_EQ(*count % 2, 1);
        ++*count;
      }
    };
    nth_depadd(nth_self(), 2);
    nth_desc *thread = nth_create_ls(+sleeper, 0, nth_self(), 1, &turns);
    const nth_handle_t handle = nth_handle(thread);
    nth_to_lrq(kthreads - 1, thread);
    while (nth_alive(handle) != 0) {
      const nth_status status = nth_unblock(handle);
      EXPECT_TRUE(status == NTH_OK || status == NTH_ESTALE);
      nth_yield();
    }
    nth_block();
    EXPECT_EQ(turns, 2000);
  });
}

// On a busy machine a round takes as long as its kernel threads wait for one another: there are fewer then.
TEST_P(block, is_ended_from_another_kernel_thread) {
  constexpr long least_rounds = 200;
  const long rounds = pick_size(least_rounds, 5000, 200000);
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  std::atomic<nth_handle_t *> waiting = nullptr;
  std::atomic<bool> over = false;
  std::thread waker([&] {
    while (!over) {
      if (nth_handle_t *one = waiting.exchange(nullptr)) {
        const nth_handle_t handle = *one;
        EXPECT_EQ(nth_unblock(handle), NTH_OK);
      }
    }
  });
  run([&] {
    for (long i = 0; i < rounds; ++i) {
      if (i >= least_rounds && !full_size() && std::chrono::steady_clock::now() > until)
        break;
      nth_handle_t mine = nth_handle(nth_self());
      waiting = &mine;
      if (i % 3 == 0) // let the unblock come first
        while (waiting != nullptr)
          nth_yield();
      nth_block();
      EXPECT_EQ(waiting.load(), nullptr);
    }
  });
  over = true;
  waker.join();
}

TEST_P(block, late_unblock_is_stale) {
  nth_handle_t ended = {};
  run([&] { ended = nth_handle(nth_self()); });
  EXPECT_EQ(nth_unblock(ended), NTH_ESTALE);
  run([&] { EXPECT_EQ(nth_unblock(ended), NTH_ESTALE); });
}

// A late unblock does not reach the thread that has the descriptor now.
TEST_P(block, late_unblock_does_not_wake_another) {
  run([] {
    auto nothing = [] {};
    std::vector<nth_handle_t> old;
    for (int i = 0; i < 200; ++i) {
      nth_depadd(nth_self(), 2);
      nth_desc *thread = create(nothing, nth_self());
      old.push_back(nth_handle(thread));
      nth_to_lrq(nth_worker(), thread);
      nth_block();
    }
    std::atomic<int> woken = 0;
    auto sleeper = [&] {
      nth_block();
      ++woken;
    };
    std::vector<nth_handle_t> sleeping;
    nth_depadd(nth_self(), 201);
    for (int i = 0; i < 200; ++i) {
      nth_desc *thread = create(sleeper, nth_self());
      sleeping.push_back(nth_handle(thread));
      nth_to_lrq_end(i % kthreads, thread);
    }
    for (int i = 0; i < 10; ++i) {
      for (const nth_handle_t &one : old)
        EXPECT_EQ(nth_unblock(one), NTH_ESTALE);
      nth_yield();
    }
    EXPECT_EQ(woken, 0);
    for (const nth_handle_t &one : sleeping)
      EXPECT_EQ(nth_unblock(one), NTH_OK);
    nth_block();
    EXPECT_EQ(woken, 200);
  });
}

TEST_P(block, by_the_thousand) {
  const int width = under_tsan ? 500 : 10000;
  std::atomic<int> blocked = 0, resumed = 0;
  auto sleeper = [&] {
    const nth_desc *self = nth_self();
    ++blocked;
    nth_block();
    ++resumed;
    EXPECT_EQ(nth_self(), self);
  };
  run([&] {
    std::vector<nth_handle_t> sleeping;
    nth_depadd(nth_self(), width + 1);
    for (int i = 0; i < width; ++i) {
      nth_desc *thread = create(sleeper, nth_self());
      sleeping.push_back(nth_handle(thread));
      nth_to_lrq_end(i % kthreads, thread);
    }
    while (blocked < width)
      nth_yield();
    EXPECT_EQ(resumed, 0);
    for (size_t i = 0; i < sleeping.size(); ++i) // not in the order in which they went to sleep
      EXPECT_EQ(nth_unblock(sleeping[i * 7919 % sleeping.size()]), NTH_OK);
    nth_block();
    EXPECT_EQ(resumed, width);
  });
}

TEST_P(block, does_not_hold_up_ready_threads) {
  run([] {
    std::atomic<int> ended = 0;
    nth_handle_t sleeping = {};
    auto sleeper = [&] { nth_block(); };
    auto body = [&] { ++ended; };
    nth_depadd(nth_self(), 2);
    nth_desc *thread = create(sleeper, nth_self());
    sleeping = nth_handle(thread);
    nth_to_lrq(nth_worker(), thread);
    auto others = [&] {
      nth_depadd(nth_self(), 101);
      for (int i = 0; i < 100; ++i)
        nth_to_lrq_end(i % kthreads, create(body, nth_self()));
      nth_block();
      EXPECT_EQ(ended, 100);
      EXPECT_EQ(nth_unblock(sleeping), NTH_OK);
    };
    nth_depadd(nth_self(), 1);
    nth_to_lrq_end(nth_worker(), create(others, nth_self()));
    nth_block();
  });
}

std::vector<shape> shapes() {
  std::vector<shape> all;
  for (const nth_policy policy : all_policies)
    for (const int workers : {1, 2, 4})
      all.push_back({policy, workers});
  return all;
}
INSTANTIATE_TEST_SUITE_P(shapes, block, testing::ValuesIn(shapes()), [](const auto &test) {
  return name_of(test.param.policy) + std::to_string(test.param.workers);
});

} // namespace
