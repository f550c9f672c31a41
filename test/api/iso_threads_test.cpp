// Whose memory it is: threads of all kinds allocate, on all sorts of stacks, and their blocks end with them.
#include "iso.hpp"
#include "nth/loop.h"
#include "nth/spawn.hpp"

#include <atomic>
#include <cfenv>
#include <vector>

using namespace nth::test;

namespace {

constexpr int workers = 4;

class iso_threads : public testing::TestWithParam<nth_policy> {
protected:
  static nth_options chosen() { return options(workers, GetParam()); }
  const watchdog guard{200};
};

using root = void (*)();

// The caller waits until n threads that have it as a successor have ended.
class joins {
public:
  explicit joins(long n) { nth_depadd(nth_self(), n + 1); }
  ~joins() { nth_block(); }
  joins(const joins &) = delete;
  joins &operator=(const joins &) = delete;
};

template <class F>
void join_one(F &body, int which = 0) {
  const joins all(1);
  nth_to_lrq(which, create(body, nth_self()));
}

// The heap of a thread is kept where its successors are: none, one, or several, with few or many arguments.
std::atomic<long> sum_of_words;
void sums(long first, long second, long third, long fourth, long fifth, long sixth) {
  work_with_blocks(static_cast<unsigned>(first));
  nth_yield();
  work_with_blocks(static_cast<unsigned>(second));
  sum_of_words += first + second + third + fourth + fifth + sixth;
}

TEST_P(iso_threads, all_successors_are_told) {
  const runtime up(chosen());
  for (const int successors : {0, 1, 2, 4, 5, 6, 11, 12, NTH_MAX_SUCCESSORS}) {
    for (const int words : {2, 4, 6}) {
      const long list[6] = {1, 2, 3, 4, 5, 6};
      sum_of_words = 0;
      std::atomic<int> told = 0;
      auto successor = [&] { ++told; };
      run([&] {
        const joins all(successors);
        std::vector<nth_desc *> waiting;
        for (int i = 0; i < successors; ++i)
          waiting.push_back(create(successor, nth_self(), 1));
        nth_to_lrq(1, nth_create_v(root(sums), 0, successors, waiting.data(), words, list));
        if (successors == 0)
          while (sum_of_words == 0)
            nth_yield();
      });
      EXPECT_EQ(told, successors);
      if (words == 6) {
        EXPECT_EQ(sum_of_words, 21);
      }
    }
  }
  expect_slots_taken(0);
  spin_until([] { return counters().descriptors == counters().descriptors_free; });
}

// The same successor several times counts as often.
TEST_P(iso_threads, a_successor_that_is_named_twice) {
  const runtime up(chosen());
  run([] {
    for (int i = 0; i < 200; ++i) {
      const joins all(3);
      nth_desc *const self[3] = {nth_self(), nth_self(), nth_self()};
      const long words[6] = {1, 2, 3, 4, 5, 6};
      nth_to_lrq(i % workers, nth_create_v(root(sums), 0, 3, self, 6, words));
    }
  });
  expect_slots_taken(0);
}

TEST_P(iso_threads, with_a_floating_point_state_of_its_own) {
  const runtime up(chosen());
  std::atomic<int> wrong = 0;
  auto body = [&] {
    nth_keep_fp(1);
    std::fesetround(FE_UPWARD);
    for (int i = 0; i < 10; ++i) {
      work_with_blocks(1);
      nth_yield();
      wrong += std::fegetround() != FE_UPWARD;
    }
  };
  auto other = [&] {
    wrong += std::fegetround() != FE_TONEAREST;
    work_with_blocks(2);
  };
  run([&] {
    const joins all(200);
    for (int i = 0; i < 100; ++i) {
      nth_to_lrq(i % workers, create(body, nth_self()));
      nth_to_lrq(i % workers, create(other, nth_self()));
    }
  });
  EXPECT_EQ(wrong, 0);
  expect_slots_taken(0);
}

TEST_P(iso_threads, on_stacks_of_all_classes) {
  const runtime up(chosen());
  auto body = [] {
    void *block = nth_isomalloc(500);
    ASSERT_NE(block, nullptr);
    fill(block, 500, 7);
    for (int i = 0; i < 5; ++i) {
      work_with_blocks(1);
      nth_yield();
    }
    EXPECT_TRUE(is_filled(block, 500, 7));
    if (nth_worker() % 2 == 0)
      nth_isofree(block);
  };
  run([&] {
    for (int round = 0; round < 5; ++round)
      for (long bytes = 16 << 10; bytes <= 1 << 20; bytes *= 2) {
        const joins all(8);
        for (int i = 0; i < 8; ++i) {
          nth_desc *thread = create(body, nth_self());
          if (i % 2 == 0) {
            ASSERT_EQ(nth_set_stack_size(thread, bytes), NTH_OK);
          }
          nth_to_lrq(i % workers, thread);
        }
      }
  });
  expect_slots_taken(0);
}

TEST_P(iso_threads, in_no_suspend_scopes) {
  const runtime up(chosen());
  run([] {
    nth_no_suspend_begin();
    work_with_blocks(1);
    void *block = nth_isomalloc(10);
    nth_no_suspend_end();
    ASSERT_NE(block, nullptr);
    work_with_blocks(2);
    nth_isofree(block);
  });
}

// ---- Children that run where their parent waits --------------------------------------------------------------

TEST_P(iso_threads, a_child_that_is_called_on_its_parents_stack) {
  const runtime up(options(1, GetParam()));
  run([] {
    void *block = nth_isomalloc(100);
    ASSERT_NE(block, nullptr);
    fill(block, 100, 1);
    void *of_child = nullptr;
    auto child = [&] {
      void *mine = nth_isomalloc(100);
      ASSERT_NE(mine, nullptr);
      nth_isofree(block); // of the parent, which is suspended
      block = nth_isomalloc(100);
      of_child = mine;
      nth_yield();
      work_with_blocks(4);
      fill(mine, 100, 2);
    };
    for (int i = 0; i < 100; ++i) {
      join_one(child);
      // What the child allocated has ended with it, and its place is not the parent's.
      const reports told;
      nth_isofree(of_child);
      EXPECT_EQ(told.count(), 1);
      block = nth_isomalloc(100);
      ASSERT_NE(block, nullptr);
      fill(block, 100, 3);
      EXPECT_TRUE(is_filled(block, 100, 3));
    }
  });
  expect_slots_taken(0);
}

std::atomic<long> counted;
void counts() {
  void *block = nth_isomalloc(64);
  if (block != nullptr)
    ++counted;
  if (counted % 2 == 0)
    nth_isofree(block);
}

TEST_P(iso_threads, a_child_that_its_creator_calls_because_of_the_backlog) {
  const nth_stack_need table[] = {{root(counts), 12'000, 0}};
  ASSERT_EQ(nth_set_stack_needs(table, 1), NTH_OK) << nth_last_error();
  nth_options o = options(1, GetParam());
  o.backlog = 64;
  const runtime up(o);
  counted = 0;
  run([] {
    void *block = nth_isomalloc(64);
    fill(block, 64, 1);
    const joins all(2000);
    for (int i = 0; i < 2000; ++i) {
      nth_to_lrq(0, nth_create_ls(counts, 0, nth_self(), 0));
      void *other = nth_isomalloc(64);
      fill(other, 64, 2);
      ASSERT_TRUE(is_filled(block, 64, 1));
      nth_isofree(other);
    }
  });
  EXPECT_EQ(counted, 2000);
  expect_slots_taken(0);
}

long tree(long depth) {
  void *block = nth_isomalloc(static_cast<std::size_t>(depth) * 10 + 1);
  if (block == nullptr)
    return -1000;
  fill(block, static_cast<std::size_t>(depth), static_cast<unsigned>(depth));
  long result = 1;
  if (depth > 0) {
    nth_spawn_record left;
    nth_spawn(&left, tree, depth - 1);
    if (depth % 3 == 0)
      nth_yield();
    result += tree(depth - 1);
    result += nth_sync(&left);
  }
  if (!is_filled(block, static_cast<std::size_t>(depth), static_cast<unsigned>(depth)))
    return -1000;
  nth_isofree(block);
  return result;
}

TEST_P(iso_threads, in_spawned_calls) {
  const runtime up(chosen());
  const long depth = under_tsan ? 6 : 12;
  for (int i = 0; i < 5; ++i) {
    long result = 0;
    run([&] { result = tree(depth); });
    EXPECT_EQ(result, (2L << depth) - 1);
    expect_slots_taken(0);
  }
}

// Calls so deep that they take further stacks of the thread; the heap is made up there.
long chain(long n) {
  volatile char frame[400] = {};
  frame[n % 400] = 1;
  if (n == 0) {
    work_with_blocks(1);
    return nth_isomalloc(100) == nullptr ? 1000 : 1;
  }
  nth_spawn_record child;
  nth_spawn(&child, chain, n - 1);
  const long deeper = nth_sync(&child);
  if (n % 50 == 0)
    work_with_blocks(static_cast<unsigned>(n));
  return deeper + frame[n % 400];
}

TEST_P(iso_threads, on_further_stacks) {
  nth_options o = options(1, GetParam());
  o.stack_size = 16 << 10;
  const runtime up(o);
  const long depth = under_tsan ? 100 : 1000;
  // A thread that comes after it has its descriptor, one of its stacks, and must not take its heap for its own. Others
  // that wait on the stacks given back last let it have each of them once.
  auto deep = [=] { EXPECT_EQ(chain(depth), depth + 1); };
  std::atomic<long> wrong = 0;
  auto waits = [] { nth_yield(); };
  auto after = [&] {
    void *block = nth_isomalloc(100);
    wrong += nth_isousable_size(block) < 100 ? 1 : 0;
    fill(block, 100, 1);
  };
  run([&] {
    for (long others = 0; others < 12; ++others) {
      join_one(deep);
      const joins all(others + 1);
      nth_desc *last = create(after, nth_self());
      for (long i = 0; i < others; ++i)
        nth_to_lrq_end(0, create(waits, nth_self()));
      nth_to_lrq_end(0, last);
    }
  });
  EXPECT_EQ(wrong, 0);
  expect_slots_taken(0);
}

TEST_P(iso_threads, in_loops) {
  const runtime up(chosen());
  run([] {
    const auto body = [](long first, long last, void *) {
      for (long i = first; i < last; ++i)
        work_with_blocks(static_cast<unsigned>(i));
    };
    EXPECT_EQ(nth_parallel_for(0, 500, body, nullptr, NTH_SCHEDULE_AUTO, 0), NTH_OK);
  });
  expect_slots_taken(0);
}

INSTANTIATE_TEST_SUITE_P(policies, iso_threads, testing::ValuesIn(all_policies),
                         [](const auto &one) { return name_of(one.param); });

} // namespace
