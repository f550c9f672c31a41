// Kernel threads, each with a heap, that free one another's blocks.
#include "heap_area.hpp"

#include "iso/chunk_owners.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

namespace iso = nth::detail::iso;
using iso::heap_error;

namespace {

constexpr std::size_t threads = 4;

struct block {
  unsigned char *at;
  std::size_t size;
  unsigned char mark;
  std::atomic<long> *unfreed; // of its heap
};

class mailbox {
public:
  void put(block b) {
    const std::lock_guard guard(lock);
    blocks.push_back(b);
  }
  std::vector<block> take() {
    const std::lock_guard guard(lock);
    return std::exchange(blocks, {});
  }

private:
  std::mutex lock;
  std::vector<block> blocks;
};

std::size_t size_of(std::uint64_t r) {
  return r % 64 == 0 ? 1 + r / 64 % 200'000 : r % 8 == 0 ? 1 + r / 64 % 9000 : 1 + r / 64 % 300;
}

bool intact(const block &b) {
  return b.at[0] == b.mark && b.at[b.size - 1] == b.mark && b.at[b.size / 2] == b.mark;
}

void free_post(mailbox &box, iso::heap *mine) {
  for (const block &b : box.take()) {
    ASSERT_TRUE(intact(b));
    ASSERT_EQ(iso::release(mine, b.at), heap_error::none);
    b.unfreed->fetch_sub(1);
  }
}

// Each thread allocates and posts; frees what it gets. Its heap ends, and another begins, when all is freed.
void exchange(std::size_t rounds, std::size_t each) {
  mailbox boxes[threads];
  std::atomic<std::size_t> running{threads};
  std::vector<std::thread> all;
  for (std::size_t me = 0; me < threads; ++me)
    all.emplace_back([&, me] {
      std::uint64_t x = me * 7919 + 12345;
      for (std::size_t round = 0; round < rounds; ++round) {
        iso::heap *h = iso::new_heap();
        std::atomic<long> unfreed{0};
        for (std::size_t i = 0; i < each; ++i) {
          x = x * 6364136223846793005 + 1442695040888963407;
          const std::uint64_t r = x >> 20;
          const std::size_t size = size_of(r);
          auto *p = static_cast<unsigned char *>(iso::get(h, size));
          ASSERT_NE(p, nullptr);
          const block b{p, size, static_cast<unsigned char>(r), &unfreed};
          p[0] = p[size / 2] = p[size - 1] = b.mark;
          unfreed.fetch_add(1);
          boxes[(x >> 50) % threads].put(b);
          if (i % 32 == 0)
            free_post(boxes[me], h);
        }
        while (unfreed.load() != 0) {
          free_post(boxes[me], h);
          std::this_thread::yield();
        }
        ASSERT_EQ(iso::count(h).blocks, 0U);
        iso::collect(h);
        ASSERT_EQ(iso::count(h).slots, 1U);
        iso::end_heap(h);
      }
      running.fetch_sub(1);
      while (running.load() != 0) {
        free_post(boxes[me], nullptr);
        std::this_thread::yield();
      }
    });
  for (std::thread &t : all)
    t.join();
  EXPECT_EQ(iso::the_slots.count().taken, 0);
}

} // namespace

TEST(heap_threads, free_one_anothers_blocks) {
  const iso::heap_area area(std::size_t{1} << 32);
  exchange(40, iso::operations(2000));
}

TEST(heap_threads, free_one_anothers_blocks_in_larger_slots) {
  const iso::heap_area area(std::size_t{1} << 32, 256, 18);
  exchange(10, iso::operations(2000));
}

// Of each block, all threads try: one succeeds.
TEST(heap_threads, free_a_block_once) {
  const iso::heap_area area(std::size_t{1} << 30);
  iso::heap *h = iso::new_heap();
  iso::heap *keeps = iso::new_heap();
  for (std::size_t round = 0; round < iso::operations(200); ++round) {
    std::vector<void *> blocks;
    for (std::size_t i = 0; i < 200; ++i)
      blocks.push_back(iso::get(h, size_of(i * 64 + i % 8)));
    std::atomic<std::size_t> freed{0}, begin{0};
    std::vector<std::thread> all;
    for (std::size_t me = 0; me < 2; ++me)
      all.emplace_back([&] {
        begin.fetch_add(1);
        while (begin.load() != 2)
          std::this_thread::yield();
        for (void *b : blocks)
          freed.fetch_add(iso::release(keeps, b) == heap_error::none ? 1 : 0);
      });
    for (std::thread &t : all)
      t.join();
    ASSERT_EQ(freed.load(), blocks.size());
    ASSERT_EQ(iso::count(h).blocks, 0U);
  }
  iso::end_heap(h);
  iso::end_heap(keeps);
}

// Whoever looks into a chunk keeps it where it is.
TEST(heap_threads, a_heap_ends_after_its_visitors) {
  const iso::heap_area area(std::size_t{1} << 30);
  iso::heap *h = iso::new_heap();
  void *b = iso::get(h, 100);
  std::atomic<bool> ended{false};
  std::thread ends;
  {
    const iso::chunk_owners::visit visit(iso::the_owners,
                                         iso::the_owners.index(reinterpret_cast<std::uintptr_t>(b)));
    ASSERT_EQ(visit.owner(), h);
    ends = std::thread([&] {
      iso::end_heap(h);
      ended.store(true);
    });
    // From when no others find it, until long after.
    while (iso::the_owners.owner(iso::the_owners.index(reinterpret_cast<std::uintptr_t>(b))) != nullptr)
      std::this_thread::yield();
    for (int i = 0; i < 1000; ++i)
      std::this_thread::yield();
    EXPECT_FALSE(ended.load());
    EXPECT_EQ(iso::release(nullptr, b), heap_error::dead);
  }
  ends.join();
}

// Frees that come too late touch nothing that is gone: what lay in headers went to the kernel, for no slot is cached, and
// reads as zero from then on.
TEST(heap_threads, free_blocks_of_heaps_that_end) {
  const iso::heap_area area(std::size_t{1} << 30, 0);
  for (std::size_t round = 0; round < iso::operations(300); ++round) {
    iso::heap *h = iso::new_heap();
    std::vector<void *> blocks;
    for (std::size_t i = 0; i < 100; ++i)
      blocks.push_back(iso::get(h, size_of(i * 64 + i % 8)));
    std::atomic<bool> begun{false};
    std::thread late([&] {
      for (void *b : blocks) {
        const heap_error error = iso::release(nullptr, b);
        ASSERT_TRUE(error == heap_error::none || error == heap_error::dead);
        begun.store(true);
      }
    });
    while (!begun.load())
      std::this_thread::yield();
    for (std::size_t i = 0; i < round % 50; ++i)
      std::this_thread::yield();
    iso::end_heap(h);
    late.join();
    for (iso::slot s = 0; s < 32; ++s)
      for (std::size_t i = 0; i < 3072; i += 8)
        ASSERT_EQ(*reinterpret_cast<std::uint64_t *>(iso::the_slots.address_of(s) + i), 0U) << s << ' ' << i;
  }
  EXPECT_EQ(iso::the_slots.count().taken, 0);
}
