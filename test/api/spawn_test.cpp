// Fork-join: nth_spawn and nth_sync, where nothing happens between them, and where everything does.
#include "nth/loop.h"
#include "nth/spawn.h"

#include "../support/reports.hpp"
#include "../support/runtime.hpp"
#include "../support/size.hpp"

#include <atomic>
#include <chrono>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

namespace nth::test {
namespace {

using param = std::tuple<nth_policy, int>;

class spawns : public ::testing::TestWithParam<param> {
protected:
  [[nodiscard]] static nth_options chosen() {
    return options(std::get<1>(GetParam()), std::get<0>(GetParam()));
  }
  const watchdog guard{120};
};

INSTANTIATE_TEST_SUITE_P(all, spawns,
                         ::testing::Combine(::testing::Values(NTH_POLICY_DSR, NTH_POLICY_LSA, NTH_POLICY_DOS),
                                            ::testing::Values(1, 2, 4, 8)));

class spawns_of_several : public spawns {}; // with a second worker at least

INSTANTIATE_TEST_SUITE_P(all, spawns_of_several,
                         ::testing::Combine(::testing::Values(NTH_POLICY_DSR, NTH_POLICY_LSA, NTH_POLICY_DOS),
                                            ::testing::Values(2, 4, 8)));

long serial_fib(long n) { return n < 2 ? n : serial_fib(n - 1) + serial_fib(n - 2); }

long fib(long n) {
  if (n < 2)
    return n;
  nth_spawn_record left;
  nth_spawn(&left, fib, n - 1);
  const long right = fib(n - 2);
  return nth_sync(&left) + right;
}

TEST_P(spawns, fib) {
  const runtime up(chosen());
  const long n = pick_size(15, 24, 32);
  long result = 0;
  for (int i = 0; i < 3; ++i) {
    run([&] { result = fib(n); });
    EXPECT_EQ(result, serial_fib(n));
  }
}

// Threads that other kernel threads wake.
class waker {
public:
  waker() : kernel_thread([this] { serve(); }) {}
  ~waker() {
    stop = true;
    kernel_thread.join();
  }
  // Blocks the calling nano-thread until this kernel thread has woken it.
  void block() {
    {
      const std::scoped_lock lock(mutex);
      waiting.push_back(nth_handle(nth_self()));
    }
    nth_block();
  }

private:
  void serve() {
    std::vector<nth_handle_t> batch;
    while (!stop) {
      {
        const std::scoped_lock lock(mutex);
        batch.swap(waiting);
      }
      for (const nth_handle_t &one : batch)
        EXPECT_EQ(nth_unblock(one), NTH_OK) << nth_last_error();
      batch.clear();
      std::this_thread::yield();
    }
  }
  std::atomic<bool> stop{false};
  std::mutex mutex;
  std::vector<nth_handle_t> waiting;
  std::thread kernel_thread;
};

waker *foreign = nullptr;
unsigned blocks_in_1024 = 0;

// The same choices in each run, whoever makes them.
unsigned scramble(long n, unsigned salt) {
  auto x = static_cast<unsigned long>(n) * 0x9e37'79b9'7f4a'7c15UL + salt;
  x ^= x >> 29;
  x *= 0xbf58'476d'1ce4'e5b9UL;
  return static_cast<unsigned>(x >> 40) & 1023;
}

std::atomic<unsigned> visits;

void perhaps_block(long n) {
  const unsigned choice = scramble(n, visits.fetch_add(1, std::memory_order_relaxed));
  if (choice < blocks_in_1024)
    foreign->block();
  else if (choice < 2 * blocks_in_1024)
    nth_yield();
}

long blocking_fib(long n) {
  perhaps_block(n);
  if (n < 2)
    return n;
  nth_spawn_record left;
  nth_spawn(&left, blocking_fib, n - 1);
  perhaps_block(n);
  const long right = blocking_fib(n - 2);
  perhaps_block(n);
  return nth_sync(&left) + right;
}

TEST_P(spawns, every_node_blocks_at_random_and_is_woken_by_a_foreign_kernel_thread) {
  const runtime up(chosen());
  waker w;
  foreign = &w;
  for (const unsigned often : {1U, 30U, 300U}) {
    blocks_in_1024 = often;
    const long n = pick_size(often > 100 ? 8 : 12, often > 100 ? 14 : 20, 24);
    long result = 0;
    run([&] { result = blocking_fib(n); });
    EXPECT_EQ(result, serial_fib(n)) << often;
  }
}

// As deep as no stack is.
long chain(long n) {
  volatile char frame[200] = {};
  frame[n % 200] = 1;
  if (n == 0)
    return frame[0];
  nth_spawn_record child;
  nth_spawn(&child, chain, n - 1);
  return nth_sync(&child) + frame[n % 200];
}

TEST_P(spawns, recursion_through_spawns_never_ends_a_stack) {
  const runtime up(chosen());
  const long depth = pick_size(1000, 20'000, 1'000'000);
  for (int i = 0; i < 3; ++i) {
    long result = 0;
    run([&] { result = chain(depth); });
    EXPECT_EQ(result, depth + 1);
  }
}

// Under policy dos a walk over all threads looks at each stack.
long noisy_chain(long n) {
  volatile long frame[40];
  for (auto &word : frame)
    word = -1;
  if (n == 0)
    return 0;
  nth_spawn_record child;
  nth_spawn(&child, noisy_chain, n - 1);
  return nth_sync(&child) + frame[n % 40] + 2;
}

TEST_P(spawns, further_stacks_are_taken_for_no_thread) {
  const runtime up(chosen()); // whose end finds no thread alive
  const long depth = pick_size(1000, 20'000, 100'000);
  long result = 0;
  run([&] { result = noisy_chain(depth); });
  EXPECT_EQ(result, depth);
}

long blocking_chain(long n) {
  if (n == 0)
    return 0;
  nth_spawn_record child;
  nth_spawn(&child, blocking_chain, n - 1);
  perhaps_block(n);
  const long deeper = nth_sync(&child);
  perhaps_block(n);
  return deeper + 1;
}

TEST_P(spawns, deep_recursion_that_blocks) {
  const runtime up(chosen());
  waker w;
  foreign = &w;
  blocks_in_1024 = 20;
  const long depth = pick_size(300, 5000, 100'000);
  long result = 0;
  run([&] { result = blocking_chain(depth); });
  EXPECT_EQ(result, depth);
}

// A frame with many records, synced in another order than that of their spawns.
long many(long seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  constexpr int n = 40;
  nth_spawn_record records[n];
  int order[n];
  for (int i = 0; i < n; ++i) {
    nth_spawn(&records[i], seed > 0 && i % 13 == 0 ? many : serial_fib,
              seed > 0 && i % 13 == 0 ? seed - 1 : i % 10);
    order[i] = i;
    if (random() % 16 == 0)
      nth_yield();
  }
  long sum = 0;
  for (int left = n; left > 0; --left) {
    const auto k = static_cast<unsigned>(random()) % static_cast<unsigned>(left);
    sum += nth_sync(&records[order[k]]);
    order[k] = order[left - 1];
    if (random() % 16 == 0)
      perhaps_block(left);
  }
  return sum;
}

long expected_many(long seed) {
  long sum = 0;
  for (int i = 0; i < 40; ++i)
    sum += seed > 0 && i % 13 == 0 ? expected_many(seed - 1) : serial_fib(i % 10);
  return sum;
}

TEST_P(spawns, syncs_in_any_order) {
  const runtime up(chosen());
  waker w;
  foreign = &w;
  blocks_in_1024 = 100;
  for (int i = 0; i < 5; ++i) {
    long result = 0;
    run([&] { result = many(pick_size(2, 4, 6)); });
    EXPECT_EQ(result, expected_many(pick_size(2, 4, 6)));
  }
}

// Threads and spawned calls among one another.
long mixed(long n) {
  if (n < 2)
    return n;
  nth_spawn_record left;
  nth_spawn(&left, mixed, n - 1);
  long right = 0;
  if (n % 3 == 0) {
    auto body = [&] { right = mixed(n - 2); };
    nth_depadd(nth_self(), 2);
    nth_to_lrq(nth_worker(), create(body, nth_self()));
    nth_block();
  } else {
    right = mixed(n - 2);
  }
  return nth_sync(&left) + right;
}

TEST_P(spawns, among_threads) {
  const runtime up(chosen());
  const long n = pick_size(12, 20, 26);
  long result = 0;
  run([&] { result = mixed(n); });
  EXPECT_EQ(result, serial_fib(n));
}

// What a parent that is blocked has spawned is run by others.
std::atomic<long> ran;

long note(long value) {
  ++ran;
  return value;
}

TEST_P(spawns, of_a_blocked_parent_are_run) {
  const runtime up(chosen());
  ran = 0;
  std::atomic<bool> woken = false;
  nth_handle_t parent = {};
  std::atomic<bool> ready = false;
  auto body = [&] {
    nth_spawn_record records[10];
    for (long i = 0; i < 10; ++i)
      nth_spawn(&records[i], note, i);
    parent = nth_handle(nth_self());
    ready = true;
    nth_block();
    EXPECT_TRUE(woken.load());
    for (long i = 9; i >= 0; --i)
      EXPECT_EQ(nth_sync(&records[i]), i);
  };
  nth_to_lrq(0, create(body));
  spin_until([&] { return ready.load() && ran == 10; });
  woken = true;
  EXPECT_EQ(nth_unblock(parent), NTH_OK);
  spin_until([&] { return nth_alive(parent) == 0; });
}

// Work conserving: what a parent has spawned that makes no call of the library any more is taken, by workers that
// search and by those that sleep.
TEST_P(spawns_of_several, of_a_parent_that_only_computes_are_taken) {
  const runtime up(chosen());
  for (const bool asleep : {false, true}) {
    for (int round = 0; round < 5; ++round) {
      ran = 0;
      if (asleep)
        std::this_thread::sleep_for(std::chrono::milliseconds(20)); // longer than idle workers spin
      run([] {
        nth_spawn_record records[10];
        for (long i = 0; i < 10; ++i)
          nth_spawn(&records[i], note, i);
        while (ran < 10)
          continue;
        for (long i = 9; i >= 0; --i)
          EXPECT_EQ(nth_sync(&records[i]), i);
      });
    }
  }
}

TEST(spawn, outside_of_threads_the_sync_calls) {
  EXPECT_EQ(fib(10), 55);
  const runtime up(2);
  EXPECT_EQ(fib(10), 55);
}

TEST(spawn, mistakes_are_named) {
  const runtime up(1);
  run([] {
    nth_spawn_record r;
    const reports told;
    nth_spawn(&r, nullptr, 1);
    EXPECT_EQ(reports::last_status(), NTH_EINVAL);
    nth_spawn(&r, note, 7);
    EXPECT_EQ(nth_sync(&r), 7);
    EXPECT_EQ(reports::count(), 1);
    EXPECT_EQ(nth_sync(&r), 0);
    EXPECT_EQ(reports::last_status(), NTH_ESTATE);
    EXPECT_EQ(nth_sync(nullptr), 0);
    EXPECT_EQ(reports::count(), 3);
    nth_spawn(nullptr, note, 1);
    EXPECT_EQ(reports::count(), 4);
  });
  static nth_spawn_record forgotten;
  const reports told;
  run([] { nth_spawn(&forgotten, note, 7); });
  EXPECT_EQ(reports::last_status(), NTH_ESTATE);
  EXPECT_NE(reports::messages().find("not synced"), std::string::npos);
}

long forgets(long value) {
  nth_spawn_record r;
  nth_spawn(&r, note, value);
  return value % 2 == 0 ? -1 : nth_sync(&r);
}

TEST(spawn, forgotten_in_a_loop_is_named_and_the_loop_ends) {
  const watchdog guard;
  const runtime up(1);
  const reports told;
  static nth_spawn_record outer;
  run([] {
    nth_spawn(&outer, note, 3);
    const auto body = +[](long first, long last, void * /*shared*/) {
      for (long i = first; i < last; ++i)
        static_cast<void>(forgets(i));
    };
    for (const nth_schedule schedule : {NTH_SCHEDULE_AUTO, NTH_SCHEDULE_EQUAL, NTH_SCHEDULE_GUIDED})
      EXPECT_EQ(nth_parallel_for(0, 100, body, nullptr, schedule, 0), NTH_OK);
    EXPECT_EQ(nth_sync(&outer), 3);
  });
  EXPECT_GE(reports::count(), 3);
  EXPECT_EQ(reports::last_status(), NTH_ESTATE);
  EXPECT_NE(reports::messages().find("a loop"), std::string::npos);
}

} // namespace
} // namespace nth::test
