// Memory that keeps its address, of several: kernel threads outside, frees by other threads, threads that move, and many.
#include "iso.hpp"

#include <atomic>
#include <cstdio>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace nth::test;

namespace {

constexpr int workers = 4;

class iso_shared_blocks : public testing::TestWithParam<nth_policy> {
protected:
  static nth_options chosen() { return options(workers, GetParam()); }
  const watchdog guard{200};
};

// The caller waits until n threads that have it as a successor have ended.
class joins {
public:
  explicit joins(long n) { nth_depadd(nth_self(), n + 1); }
  ~joins() { nth_block(); }
  joins(const joins &) = delete;
  joins &operator=(const joins &) = delete;
};

// ---- Kernel threads outside ------------------------------------------------------------------------------

TEST_P(iso_shared_blocks, kernel_threads_outside_share_the_ranks_heap) {
  const runtime up(chosen());
  std::vector<std::thread> threads;
  std::atomic<void *> handed[4] = {};
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const bool attached = t % 2 == 0;
      if (attached) {
        ASSERT_NE(nth_attach(), nullptr);
      }
      for (unsigned i = 0; i < 50; ++i)
        work_with_blocks(t + i);
      void *block = nth_isomalloc(77);
      fill(block, 77, t);
      if (attached) {
        EXPECT_EQ(nth_detach(), NTH_OK);
      }
      handed[t] = block; // it outlives the kernel thread
    });
  run([] { work_with_blocks(1); });
  for (std::thread &one : threads)
    one.join();
  run([&] { // and a thread may free it
    for (unsigned t = 0; t < 4; ++t) {
      EXPECT_TRUE(is_filled(handed[t], 77, t));
      nth_isofree(handed[t]);
    }
  });
  work_with_blocks(9);
  EXPECT_LE(iso_stats().slots_taken, 4) << "the rank's own heap alone";
}

// The slots are opened by whoever comes first.
TEST_P(iso_shared_blocks, all_begin_at_once) {
  for (int round = 0; round < (under_tsan ? 5 : 20); ++round) {
    const runtime up(chosen());
    std::atomic<int> waiting = 0;
    const auto together = [&](unsigned seed) {
      ++waiting;
      spin_until([&] { return waiting == workers + 2; });
      work_with_blocks(seed);
    };
    std::thread outside[2];
    for (unsigned i = 0; i < 2; ++i)
      outside[i] = std::thread([&, i] {
        nth_isofree(nullptr);
        together(i);
      });
    run([&] {
      auto body = [&] { together(7); };
      const joins all(workers);
      for (int i = 0; i < workers; ++i)
        nth_to_lrq(i, create(body, nth_self()));
    });
    for (std::thread &one : outside)
      one.join();
  }
}

// ---- Frees by others, moves --------------------------------------------------------------------------------

TEST_P(iso_shared_blocks, frees_by_other_threads) {
  const runtime up(chosen());
  constexpr int count = 400;
  std::atomic<unsigned char *> handed[count] = {};
  std::atomic<long> wrong = 0;
  std::atomic<long> left = 5 * count;
  const auto size_of = [](int i) {
    return static_cast<std::size_t>(i % 40 == 0 ? 80'000 : i * 13 % 3000 + 1);
  };
  auto makes = [&] {
    for (int round = 0; round < 5; ++round)
      for (int i = 0; i < count; ++i) {
        while (handed[i].load(std::memory_order_relaxed) != nullptr)
          nth_yield();
        void *block = nth_isomalloc(size_of(i));
        if (block == nullptr) {
          ++wrong;
          return;
        }
        fill(block, size_of(i), static_cast<unsigned>(i));
        handed[i].store(static_cast<unsigned char *>(block), std::memory_order_release);
      }
    while (left > 0) // its blocks would end with it
      nth_yield();
  };
  auto frees = [&] {
    while (left > 0) {
      for (int i = 0; i < count; ++i) {
        unsigned char *block = handed[i].exchange(nullptr, std::memory_order_acquire);
        if (block == nullptr)
          continue;
        wrong += is_filled(block, size_of(i), static_cast<unsigned>(i)) ? 0 : 1;
        nth_isofree(block);
        --left;
      }
      nth_yield();
    }
  };
  run([&] {
    const joins all(3);
    nth_to_lrq(0, create(makes, nth_self()));
    nth_to_lrq(1, create(frees, nth_self()));
    nth_to_lrq(2, create(frees, nth_self()));
  });
  EXPECT_EQ(wrong, 0);
  expect_slots_taken(0);
}

TEST_P(iso_shared_blocks, a_thread_goes_on_allocating_on_another_worker) {
  const runtime up(chosen());
  std::atomic<long> moves = 0;
  std::atomic<long> wrong = 0;
  auto body = [&] {
    std::vector<void *> blocks;
    int at = nth_worker();
    for (unsigned i = 0; i < 100; ++i) {
      void *block = nth_isomalloc(i * 20 + 1);
      if (block == nullptr) {
        ++wrong;
        return;
      }
      fill(block, i * 20 + 1, i);
      blocks.push_back(block);
      const nth_handle_t me = nth_handle(nth_self());
      auto wakes = [me] { EXPECT_EQ(nth_unblock(me), NTH_OK); };
      nth_to_lrq(static_cast<int>(i) % workers, create(wakes));
      nth_block();
      moves += at != nth_worker() ? 1 : 0;
      at = nth_worker();
    }
    for (unsigned i = 0; i < 100; ++i) {
      wrong += is_filled(blocks[i], i * 20 + 1, i) ? 0 : 1;
      if (i % 2 == 0)
        nth_isofree(blocks[i]);
    }
  };
  while (moves == 0)
    run([&] {
      const joins all(8);
      for (int i = 0; i < 8; ++i)
        nth_to_lrq(i % workers, create(body, nth_self()));
    });
  EXPECT_EQ(wrong, 0);
  expect_slots_taken(0);
}

// ---- Many ----------------------------------------------------------------------------------------------

long resident_bytes() {
  std::FILE *file = std::fopen("/proc/self/statm", "r");
  long size = 0;
  long resident = 0;
  const int read = std::fscanf(file, "%ld %ld", &size, &resident);
  std::fclose(file);
  return read == 2 ? resident * sysconf(_SC_PAGESIZE) : 0;
}

TEST_P(iso_shared_blocks, many_threads_with_a_small_block_each) {
  nth_options o = chosen();
  o.stack_size = 16 << 10;
  const runtime up(o);
  const long count = pick_size(500, under_asan ? 5'000 : 50'000, under_asan ? 20'000 : 1'000'000);
  std::atomic<long> blocked = 0;
  std::atomic<long> wrong = 0;
  auto body = [&] {
    auto *mine = static_cast<nth_desc **>(nth_isomalloc(sizeof(nth_desc *)));
    if (mine == nullptr) {
      ++wrong;
      ++blocked;
      return;
    }
    *mine = nth_self();
    ++blocked;
    nth_block();
    wrong += *mine != nth_self() ? 1 : 0;
    --blocked;
  };
  std::vector<nth_handle_t> handles;
  handles.reserve(static_cast<std::size_t>(count));
  const long before = resident_bytes();
  run([&] {
    for (long i = 0; i < count; ++i) {
      nth_desc *thread = create(body);
      handles.push_back(nth_handle(thread));
      nth_to_lrq_end(static_cast<int>(i % workers), thread);
      if (i % 64 == 0)
        nth_yield();
    }
    while (blocked < count)
      nth_yield();
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(iso_stats().slots_taken, count);
  std::printf("%ld threads, each with a stack and a block: %ld bytes a thread\n", count,
              (resident_bytes() - before) / count);
  run([&] {
    for (const nth_handle_t &one : handles)
      EXPECT_EQ(nth_unblock(one), NTH_OK);
    while (blocked > 0)
      nth_yield();
  });
  EXPECT_EQ(wrong, 0);
  expect_slots_taken(0);
  EXPECT_LE(iso_stats().slots_mapped, o.slot_cache) << "the others' memory went back to the kernel";
}

INSTANTIATE_TEST_SUITE_P(policies, iso_shared_blocks, testing::ValuesIn(all_policies),
                         [](const auto &one) { return name_of(one.param); });

} // namespace
