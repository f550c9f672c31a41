// Lives by the million: random trees of threads that create, join, yield, block and wake each other at random
// workers, while a kernel thread outside creates and wakes too. What ran is counted against what was made.
// Sizes: 200,000 lives under ThreadSanitizer, 5 million else, 100 million with NTH_TEST_SIZE=full.
#include "../support/runtime.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <tuple>
#include <vector>

using namespace nth::test;

namespace {

std::uint64_t next(std::uint64_t &state) { // splitmix64
  std::uint64_t value = state += 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

// A count that a worker raises without disturbing the others. A thread may change its worker between its
// look at nth_worker and the addition, so that the addition is atomic.
class counter {
public:
  void add(long n) {
    slots[static_cast<std::size_t>(nth_worker() + 1) % slots.size()].value.fetch_add(
        n, std::memory_order_relaxed);
  }
  long sum() const {
    long total = 0;
    for (const slot &one : slots)
      total += one.value.load(std::memory_order_relaxed);
    return total;
  }

private:
  struct alignas(64) slot {
    std::atomic<long> value = 0;
  };
  std::vector<slot> slots = std::vector<slot>(17);
};

// A blocked thread that wants to be woken by the kernel thread outside; lies on its stack.
struct wish {
  nth_handle_t handle;
  wish *next;
};

struct world {
  counter lives;       // threads of trees that ran
  counter wakers_made; // threads that were made to wake another
  counter wakers_ran;
  std::atomic<wish *> wishes = nullptr;
  std::atomic<long> wishes_made = 0;
  long wishes_granted = 0; // by the kernel thread outside
  long lives_outside = 0;  // threads that it made, and that ran
  std::atomic<bool> over = false;
};

void enqueue(std::uint64_t random, nth_desc *thread) {
  const int which = static_cast<int>(random % static_cast<unsigned>(kthreads));
  if ((random >> 32) % 4 == 0)
    nth_to_lrq(which, thread);
  else
    nth_to_lrq_end(which, thread);
}

void wake(world *all, nth_desc *thread, std::uint32_t generation) {
  all->wakers_ran.add(1);
  EXPECT_EQ(nth_unblock({thread, generation}), NTH_OK);
}

// What a thread does in its life beside its children.
void pass_time(world *all, std::uint64_t random) {
  switch (random % 64) {
  case 0:
  case 1:
  case 2:
    nth_yield();
    break;
  case 3: { // woken by a thread, which may come first
    const nth_handle_t mine = nth_handle(nth_self());
    all->wakers_made.add(1);
    nth_desc *waker = nth_create_ls(wake, 0, nullptr, 3, all, mine.thread, mine.generation);
    const nth_handle_t child = nth_handle(waker);
    enqueue(random >> 8, waker);
    nth_block();
    while (nth_alive(child) != 0) // it has woken the caller, but may not have ended
      nth_yield();
    break;
  }
  case 4: // woken by itself
    EXPECT_EQ(nth_unblock(nth_handle(nth_self())), NTH_OK);
    nth_block();
    break;
  case 5: // sometimes woken from outside
    if ((random >> 8) % 64 == 0) {
      wish mine = {nth_handle(nth_self()), all->wishes.load()};
      all->wishes_made.fetch_add(1);
      while (!all->wishes.compare_exchange_weak(mine.next, &mine)) {
      }
      nth_block();
    }
    break;
  default:
    break;
  }
}

// A tree of `budget` lives; *sum becomes how many lived.
void tree(world *all, long budget, std::uint64_t seed, long *sum) {
  nth_desc *const self = nth_self();
  all->lives.add(1);
  pass_time(all, next(seed));
  long lived = 1;
  budget -= 1;
  if (budget > 0) {
    long sums[8] = {};
    const long children = std::min<long>(budget, 1 + static_cast<long>(next(seed) % 8));
    nth_depadd(self, children + 1);
    for (long i = 0; i < children; ++i) {
      // The first children take what they like, the last one the rest.
      const long left = children - i - 1;
      const long share =
          left == 0 ? budget : 1 + static_cast<long>(next(seed) % static_cast<unsigned long>(budget - left));
      budget -= share;
      enqueue(next(seed), nth_create_ls(tree, 0, self, 4, all, share, next(seed), &sums[i]));
    }
    if (next(seed) % 16 == 0)
      nth_yield(); // children end while the parent still runs
    nth_block();
    for (const long one : sums)
      lived += one;
  }
  *sum = lived;
}

// The kernel thread outside: wakes those that wish it, and has threads of its own.
void act_outside(world *all) {
  nth_desc *self = nth_attach();
  ASSERT_NE(self, nullptr);
  std::uint64_t seed = 42;
  while (!all->over) {
    for (wish *one = all->wishes.exchange(nullptr); one != nullptr;) {
      wish *const following = one->next; // *one ends with the unblock
      EXPECT_EQ(nth_unblock(one->handle), NTH_OK);
      ++all->wishes_granted;
      one = following;
    }
    std::atomic<long> ran = 0;
    auto body = [&] { ++ran; };
    const long width = 1 + static_cast<long>(next(seed) % 10);
    nth_depadd(self, width + 1);
    for (long i = 0; i < width; ++i)
      enqueue(next(seed), create(body, self));
    nth_block();
    EXPECT_EQ(ran, width);
    all->lives_outside += ran;
    sched_yield();
  }
  EXPECT_EQ(nth_detach(), NTH_OK);
}

class lives : public testing::TestWithParam<std::tuple<nth_policy, int>> {};

TEST_P(lives, are_counted_exactly) {
  const watchdog guard(full_size() ? 3600 : 300);
  constexpr long parts = 9; // of the lives asked for: three policies at three numbers of workers
  const long wanted = pick_size(200'000, 5'000'000, 100'000'000) / parts + 1;
  nth_options chosen = options(std::get<1>(GetParam()), std::get<0>(GetParam()));
  if (std::get<1>(GetParam()) > 1)
    chosen.backlog = 128; // creators make way, and puts to other workers stay
  chosen.stack_size = 16 << 10;
  const runtime up(chosen);
  world all;
  long made = 0;
  std::thread outside(act_outside, &all);
  run([&] {
    std::uint64_t seed = static_cast<std::uint64_t>(std::get<1>(GetParam()));
    long shown = 0;
    while (made < wanted) {
      constexpr int width = 16;
      long sums[width] = {}, budgets[width] = {};
      nth_depadd(nth_self(), width + 1);
      for (int i = 0; i < width; ++i) {
        budgets[i] = 1 + static_cast<long>(next(seed) % 500);
        made += budgets[i];
        enqueue(next(seed), nth_create_ls(tree, 0, nth_self(), 4, &all, budgets[i], next(seed), &sums[i]));
      }
      nth_block();
      for (int i = 0; i < width; ++i)
        EXPECT_EQ(sums[i], budgets[i]);
      if (full_size() && made - shown > 2'000'000) {
        shown = made;
        std::printf("%ld of %ld lives\n", made, wanted);
        std::fflush(stdout);
      }
    }
  });
  all.over = true;
  outside.join();
  EXPECT_EQ(all.lives.sum(), made);
  EXPECT_EQ(all.wakers_ran.sum(), all.wakers_made.sum());
  EXPECT_EQ(all.wishes_granted, all.wishes_made.load());
  EXPECT_EQ(all.wishes.load(), nullptr);
  EXPECT_GT(all.lives_outside, 0);
  const nth_counters found = counters();
  EXPECT_EQ(found.descriptors_free, found.descriptors) << "no thread is alive";
}

INSTANTIATE_TEST_SUITE_P(workers, lives,
                         testing::Combine(testing::ValuesIn(all_policies), testing::Values(1, 2, 4)),
                         [](const auto &test) {
                           return name_of(std::get<0>(test.param)) + std::to_string(std::get<1>(test.param));
                         });

} // namespace
