// Blocks: sizes, alignments, which addresses are blocks, what an exhausted area leaves.
#include "heap_area.hpp"

#include "iso/chunk.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace iso = nth::detail::iso;
using iso::heap_error;

constexpr std::size_t mib = std::size_t{1} << 20;

TEST(heap, blocks_of_all_sizes) {
  const iso::heap_area area(64 * mib);
  iso::heap *h = iso::new_heap();
  std::vector<std::pair<unsigned char *, std::size_t>> blocks;
  for (std::size_t size = 1; size < 5 * mib; size += 1 + size / 9) {
    auto *b = static_cast<unsigned char *>(iso::get(h, size));
    ASSERT_NE(b, nullptr) << size;
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(b) % 16, 0U);
    ASSERT_GE(iso::room_of(b), size);
    std::memset(b, static_cast<int>(size & 255), iso::room_of(b));
    blocks.emplace_back(b, size);
  }
  EXPECT_EQ(iso::count(h).blocks, blocks.size());
  for (auto [b, size] : blocks) {
    ASSERT_EQ(std::count(b, b + iso::room_of(b), static_cast<unsigned char>(size & 255)),
              static_cast<std::ptrdiff_t>(iso::room_of(b)));
    ASSERT_EQ(iso::release(h, b), heap_error::none);
    ASSERT_EQ(iso::room_of(b), 0U);
  }
  EXPECT_EQ(iso::count(h).blocks, 0U);
  iso::collect(h);
  EXPECT_EQ(iso::count(h).slots, 1U);
  iso::end_heap(h);
  EXPECT_EQ(iso::the_slots.count().taken, 0);
}

TEST(heap, alignments) {
  for (const unsigned log2 : {16U, 18U}) {
    const iso::heap_area area(1024 * mib, 256, log2);
    iso::heap *h = iso::new_heap();
    for (std::size_t alignment = 1; alignment <= 16 * mib; alignment *= 2) {
      std::vector<void *> blocks;
      for (const std::size_t size :
           {std::size_t{1}, std::size_t{17}, std::size_t{200}, std::size_t{1000}, std::size_t{5000},
            alignment, std::size_t{40'000}, std::size_t{65'536}, 2 * mib})
        for (int twice = 0; twice < 2; ++twice) {
          void *b = iso::get(h, size, alignment);
          ASSERT_NE(b, nullptr) << size << ' ' << alignment;
          ASSERT_EQ(reinterpret_cast<std::uintptr_t>(b) % alignment, 0U) << size;
          ASSERT_GE(iso::room_of(b), size);
          std::memset(b, 1, iso::room_of(b));
          blocks.push_back(b);
        }
      for (void *b : blocks) {
        const heap_error inside = iso::release(h, static_cast<char *>(b) + 8);
        ASSERT_EQ(inside, heap_error::foreign) << alignment;
        ASSERT_EQ(iso::release(h, b), heap_error::none) << alignment;
        ASSERT_NE(iso::release(h, b), heap_error::none);
      }
    }
    iso::collect(h);
    EXPECT_EQ(iso::count(h).slots, 1U);
    iso::end_heap(h);
    EXPECT_EQ(iso::the_slots.count().taken, 0);
  }
}

TEST(heap, over_aligned_blocks_keep_no_slot_they_do_not_need) {
  const iso::heap_area area(64 * mib);
  iso::heap *h = iso::new_heap();
  void *b = iso::get(h, 65'536, 8 * mib);
  ASSERT_NE(b, nullptr);
  EXPECT_EQ(iso::count(h).slots, 3U); // the heap's, the header's, the block's
  EXPECT_EQ(iso::release(h, b), heap_error::none);
  iso::end_heap(h);
}

TEST(heap, what_cannot_be) {
  const iso::heap_area area(8 * mib);
  iso::heap *h = iso::new_heap();
  for (const std::size_t size :
       {SIZE_MAX, SIZE_MAX - 15, SIZE_MAX - 300, SIZE_MAX / 2, std::size_t{1} << 47, 8 * mib + 1, 8 * mib})
    for (std::size_t alignment = 16; alignment != 0; alignment *= 2)
      ASSERT_EQ(iso::why_not(h, size, alignment), heap_error::too_large) << size << ' ' << alignment;
  EXPECT_EQ(iso::why_not(h, 16, std::size_t{1} << 63), heap_error::too_large);
  EXPECT_EQ(iso::why_not(h, 8 * mib - 1000), heap_error::no_slots);
  EXPECT_EQ(iso::count(h).blocks, 0U);
  iso::end_heap(h);
}

TEST(heap, refused_frees) {
  const iso::heap_area area(16 * mib);
  iso::heap *h = iso::new_heap();
  iso::heap *other = iso::new_heap();
  for (const std::size_t size : {16, 48, 208, 1000, 5000, 8192, 20'000, 100'000, 300'000}) {
    auto *b = static_cast<char *>(iso::get(h, size));
    for (iso::heap *mine : {h, other, static_cast<iso::heap *>(nullptr)}) {
      for (const std::size_t interior : {std::size_t{1}, std::size_t{8}, size / 2, size - 1}) {
        const heap_error error = iso::release(mine, b + interior);
        // The middle of a large block of another looks like nothing.
        ASSERT_TRUE(error == heap_error::foreign || (mine != h && error == heap_error::dead))
            << size << ' ' << interior;
        ASSERT_FALSE(iso::resize(mine, b + interior, 1));
      }
    }
    ASSERT_EQ(iso::release(h, b), heap_error::none);
    ASSERT_NE(iso::release(h, b), heap_error::none);
    ASSERT_NE(iso::release(other, b), heap_error::none);
    heap_error why{};
    ASSERT_EQ(iso::usable(b, why), 0U);
    ASSERT_NE(why, heap_error::none);
  }
  // Runs that have other blocks tell exactly.
  void *neighbour = iso::get(h, 48), *b = iso::get(h, 48);
  ASSERT_EQ(iso::release(h, b), heap_error::none);
  EXPECT_EQ(iso::release(h, b), heap_error::freed);
  EXPECT_EQ(iso::release(other, b), heap_error::freed);
  EXPECT_EQ(iso::release(other, neighbour), heap_error::none);
  EXPECT_EQ(iso::release(other, neighbour), heap_error::freed);
  EXPECT_EQ(iso::release(h, neighbour), heap_error::freed);
  void *large = iso::get(h, 1'000'000);
  EXPECT_EQ(iso::release(nullptr, large), heap_error::none);
  EXPECT_EQ(iso::release(nullptr, large), heap_error::freed);
  EXPECT_EQ(iso::release(h, large), heap_error::freed);
  int local = 0;
  for (void *nothing :
       {static_cast<void *>(&local), static_cast<void *>(nullptr),
        reinterpret_cast<void *>(~std::uintptr_t{15}), reinterpret_cast<void *>(iso::the_slots.base() - 16),
        reinterpret_cast<void *>(iso::the_slots.base() + (16 * mib))})
    EXPECT_EQ(iso::release(h, nothing), heap_error::foreign);
  iso::end_heap(other);
  iso::end_heap(h);
}

// Whatever is asked about, nothing is touched that is not there.
TEST(heap, any_address_may_be_freed) {
  const iso::heap_area area(4 * mib, 4);
  iso::heap *h = iso::new_heap();
  iso::heap *other = iso::new_heap();
  std::vector<char *> blocks;
  for (const std::size_t size : {16, 100, 700, 9000, 70'000})
    blocks.push_back(static_cast<char *>(iso::get(h, size)));
  blocks.push_back(static_cast<char *>(iso::get(h, 100'000, 1U << 18)));
  for (std::uintptr_t a = iso::the_slots.base(); a < iso::the_slots.base() + 4 * mib; ++a) {
    auto *p = reinterpret_cast<char *>(a);
    if (std::find(blocks.begin(), blocks.end(), p) != blocks.end())
      continue;
    ASSERT_NE(iso::release(h, p), heap_error::none) << a;
    ASSERT_NE(iso::release(other, p), heap_error::none) << a;
  }
  for (char *b : blocks)
    ASSERT_EQ(iso::release(h, b), heap_error::none);
  iso::end_heap(h);
  iso::end_heap(other);
}

TEST(heap, blocks_of_an_ended_heap_are_dead) {
  const iso::heap_area area(16 * mib, 2);
  iso::heap *h = iso::new_heap();
  iso::heap *other = iso::new_heap();
  std::vector<void *> blocks;
  blocks.reserve(1002);
  for (std::size_t size = 1; size < 10'000; size += 10)
    blocks.push_back(iso::get(h, size));
  blocks.push_back(iso::get(h, 200'000));
  blocks.push_back(iso::get(h, 200, 1U << 17));
  iso::end_heap(h);
  for (void *b : blocks) {
    EXPECT_EQ(iso::release(other, b), heap_error::dead);
    EXPECT_EQ(iso::release(nullptr, b), heap_error::dead);
    EXPECT_EQ(iso::room_of(b), 0U);
  }
  iso::end_heap(other);
  EXPECT_EQ(iso::the_slots.count().taken, 0);
}

TEST(heap, an_exhausted_area_leaves_all_as_it_was) {
  const iso::heap_area area(4 * mib);
  iso::heap *h = iso::new_heap();
  for (const std::size_t size : {16, 208, 3000, 20'000, 60'000, 100'000}) {
    std::vector<unsigned char *> blocks;
    while (auto *b = static_cast<unsigned char *>(iso::get(h, size))) {
      std::memset(b, static_cast<int>(blocks.size() & 127), size);
      blocks.push_back(b);
    }
    EXPECT_EQ(iso::why_not(h, size), heap_error::no_slots);
    EXPECT_GT(blocks.size() * size, (size > 30'000 ? 2 : 3) * mib) << size;
    for (std::size_t i = 0; i < blocks.size(); ++i)
      ASSERT_EQ(std::count(blocks[i], blocks[i] + size, i & 127), static_cast<std::ptrdiff_t>(size));
    // One goes, one comes.
    ASSERT_EQ(iso::release(h, blocks.back()), heap_error::none);
    blocks.back() = static_cast<unsigned char *>(iso::get(h, size));
    ASSERT_NE(blocks.back(), nullptr);
    for (unsigned char *b : blocks)
      ASSERT_EQ(iso::release(h, b), heap_error::none);
  }
  iso::collect(h);
  EXPECT_EQ(iso::count(h).slots, 1U);
  iso::end_heap(h);
}

TEST(heap, slots_go_back) {
  for (const unsigned log2 : {16U, 18U}) {
    const iso::heap_area area(128 * mib, 256, log2);
    iso::heap *h = iso::new_heap();
    for (const std::size_t size : {16, 400, 6000, 31'000}) {
      std::vector<void *> blocks;
      for (std::size_t bytes = 0; bytes < 16 * mib; bytes += size)
        blocks.push_back(iso::get(h, size));
      EXPECT_GT(iso::count(h).slots, 16 * mib >> log2);
      for (std::size_t i = 0; i < blocks.size(); i += 2)
        ASSERT_EQ(iso::release(h, blocks[i]), heap_error::none);
      for (std::size_t i = 1; i < blocks.size(); i += 2)
        ASSERT_EQ(iso::release(h, blocks[i]), heap_error::none);
      EXPECT_LE(iso::count(h).slots, 4U)
          << size; // the heap's, a spare one, and one with a kept run of each class so far
    }
    iso::collect(h);
    EXPECT_EQ(iso::count(h).slots, 1U);
    EXPECT_EQ(iso::the_slots.count().taken, 1);
    iso::end_heap(h);
  }
}

TEST(heap, resizing) {
  const iso::heap_area area(64 * mib);
  iso::heap *h = iso::new_heap();
  iso::heap *other = iso::new_heap();
  void *b = iso::get(h, 300);
  EXPECT_TRUE(iso::resize(h, b, 320));
  EXPECT_TRUE(iso::resize(h, b, 289));
  EXPECT_TRUE(iso::resize(h, b, 170)); // more than half
  EXPECT_FALSE(iso::resize(h, b, 100));
  EXPECT_FALSE(iso::resize(h, b, 321));
  EXPECT_TRUE(iso::resize(other, b, 320));
  EXPECT_FALSE(iso::resize(other, b, 321));
  EXPECT_FALSE(iso::resize(h, b, SIZE_MAX));
  EXPECT_FALSE(iso::resize(h, b, SIZE_MAX - 10));

  auto *large = static_cast<unsigned char *>(iso::get(h, 1 * mib));
  std::memset(large, 7, 1 * mib);
  ASSERT_TRUE(iso::resize(h, large, 4 * mib));
  EXPECT_GE(iso::room_of(large), 4 * mib);
  std::memset(large + 1 * mib, 7, 3 * mib);
  EXPECT_EQ(std::count(large, large + 4 * mib, 7), static_cast<std::ptrdiff_t>(4 * mib));
  ASSERT_TRUE(iso::resize(h, large, 100'000));
  EXPECT_LT(iso::room_of(large), 200'000U);
  EXPECT_FALSE(iso::resize(other, large, 1 * mib));
  EXPECT_FALSE(iso::resize(h, large, 1000));
  EXPECT_FALSE(iso::resize(h, large, 64 * mib));
  EXPECT_FALSE(iso::resize(h, large, SIZE_MAX - 10));
  EXPECT_EQ(std::count(large, large + 100'000, 7), 100'000);
  EXPECT_EQ(iso::release(h, large), heap_error::none);
  EXPECT_EQ(iso::count(h).slots, 1U);
  iso::end_heap(other);
  iso::end_heap(h);
}

TEST(heap, a_thread_with_few_blocks_touches_one_page) {
  const iso::heap_area area(4 * mib, 0);
  iso::heap *h = iso::new_heap();
  void *b = iso::get(h, 16);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(b) / 4096, reinterpret_cast<std::uintptr_t>(h) / 4096);
  iso::end_heap(h);
}

namespace {

// What a heap is made of, as it would be sent.
struct parcel {
  struct piece {
    void *at;
    std::vector<char> bytes;
  };
  std::vector<piece> pieces;
  std::vector<iso::slot_range> slots;

  explicit parcel(iso::heap *h) {
    const auto add = [](void *to, void *at, std::size_t bytes) {
      auto *begin = static_cast<char *>(at);
      static_cast<parcel *>(to)->pieces.push_back({at, std::vector<char>(begin, begin + bytes)});
    };
    iso::for_each_header(h, add, this);
    iso::for_each_block(h, add, this);
    iso::for_each_range(
        h, [](void *to, iso::slot_range r) { static_cast<parcel *>(to)->slots.push_back(r); }, this);
  }
  void forget() const {
    for (const iso::slot_range r : slots)
      iso::the_slots.discard(r.first, r.count);
  }
  void unpack() const {
    for (const iso::slot_range r : slots)
      ASSERT_TRUE(iso::the_slots.commit(r.first, r.count));
    for (const piece &p : pieces)
      std::memcpy(p.at, p.bytes.data(), p.bytes.size());
  }
};

} // namespace

TEST(heap, leaves_and_arrives) {
  for (const unsigned log2 : {16U, 18U}) {
    const iso::heap_area area(32 * mib, 256, log2);
    iso::heap *h = iso::new_heap();
    iso::heap *other = iso::new_heap();
    std::vector<std::pair<unsigned char *, std::size_t>> blocks;
    for (std::size_t size = 16; size < 300'000; size += size / 3) {
      blocks.emplace_back(static_cast<unsigned char *>(iso::get(h, size)), size);
      std::memset(blocks.back().first, static_cast<int>(size & 255), size);
      ASSERT_EQ(iso::release(h, iso::get(h, size)), heap_error::none);
    }
    void *freed = iso::get(h, 48), *neighbour = iso::get(h, 48);
    ASSERT_EQ(iso::release(other, freed), heap_error::none);
    iso::depart(h);
    // The chains lead through free blocks, whose content stays behind.
    EXPECT_EQ(std::count(std::begin(h->recent), std::end(h->recent), 0U),
              std::ptrdiff_t{iso::recent_classes});
    EXPECT_EQ(iso::count(h).blocks, blocks.size() + 1);
    const parcel sent(h);
    sent.forget();
    for (auto [b, size] : blocks)
      EXPECT_EQ(iso::release(other, b), heap_error::dead);
    sent.unpack();
    iso::arrive(h);
    EXPECT_EQ(iso::release(h, freed), heap_error::freed);
    EXPECT_EQ(iso::release(h, neighbour), heap_error::none);
    for (auto [b, size] : blocks) {
      ASSERT_EQ(std::count(b, b + size, size & 255), static_cast<std::ptrdiff_t>(size));
      ASSERT_NE(iso::get(h, size), nullptr);
      ASSERT_EQ(iso::release(size % 2 == 0 ? h : other, b), heap_error::none);
    }
    iso::end_heap(h);
    iso::end_heap(other);
    EXPECT_EQ(iso::the_slots.count().taken, 0);
  }
}
