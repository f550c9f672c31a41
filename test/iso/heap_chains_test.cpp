// Blocks that were freed of late, which wait in chains.
#include "heap_area.hpp"

#include "iso/chunk.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace iso = nth::detail::iso;
using iso::heap_error;

constexpr std::size_t mib = std::size_t{1} << 20;

// Of runs that were full a few blocks are freed each, so that nothing but the chain leads to them. None is lost, whatever
// ends the chain.
TEST(heap, chains_lose_no_block) {
  const iso::heap_area area(4 * mib);
  iso::heap *h = iso::new_heap();
  std::vector<void *> blocks;
  while (iso::count(h).slots < 8)
    blocks.push_back(iso::get(h, 64));
  const std::size_t slots = iso::count(h).slots;
  enum { nothing, breaks, travels, a_run_goes } end = nothing;
  for (const auto next : {breaks, travels, a_run_goes, nothing}) {
    const std::size_t step = end == a_run_goes ? 1 : 3;
    const std::size_t most = end == a_run_goes ? blocks.size() / 2 : blocks.size();
    for (std::size_t i = 0; i < most; i += step)
      ASSERT_EQ(iso::release(h, blocks[i]), heap_error::none);
    if (end == breaks)
      for (std::size_t i = 0; i < most; i += step)
        std::memset(blocks[i], 255, 16);
    if (end == travels) {
      iso::depart(h);
      iso::arrive(h);
    }
    for (std::size_t i = 0; i < most; i += step)
      blocks[i] = iso::get(h, 64);
    EXPECT_EQ(iso::count(h).slots, slots) << end;
    end = next;
  }
  for (void *b : blocks)
    ASSERT_EQ(iso::release(h, b), heap_error::none);
  iso::end_heap(h);
}

// A program that writes to what it has freed harms itself, but the heap gives no block out twice.
TEST(heap, writes_to_freed_blocks) {
  const iso::heap_area area(4 * mib);
  iso::heap *h = iso::new_heap();
  for (const int filler : {0, 1, 255}) {
    std::vector<void *> blocks;
    blocks.reserve(200);
    for (int i = 0; i < 200; ++i)
      blocks.push_back(iso::get(h, 64));
    for (void *b : blocks)
      ASSERT_EQ(iso::release(h, b), heap_error::none);
    for (void *b : blocks)
      std::memset(b, filler, 64);
    for (void *&b : blocks)
      b = iso::get(h, 64);
    std::sort(blocks.begin(), blocks.end());
    ASSERT_EQ(std::adjacent_find(blocks.begin(), blocks.end()), blocks.end());
    for (void *b : blocks)
      ASSERT_EQ(iso::release(h, b), heap_error::none);
  }
  // Words that once led to another block, put back when that one is in use.
  void *keeps = iso::get(h, 64), *p = iso::get(h, 64), *q = iso::get(h, 64);
  ASSERT_EQ(iso::release(h, p), heap_error::none);
  ASSERT_EQ(iso::release(h, q), heap_error::none);
  char words[16];
  std::memcpy(words, q, 16);
  ASSERT_EQ(iso::get(h, 64), q);
  ASSERT_EQ(iso::get(h, 64), p);
  ASSERT_EQ(iso::release(h, q), heap_error::none);
  std::memcpy(q, words, 16);
  EXPECT_EQ(iso::get(h, 64), q);
  EXPECT_NE(iso::get(h, 64), p);
  EXPECT_EQ(iso::release(h, p), heap_error::none);
  EXPECT_EQ(iso::release(h, keeps), heap_error::none);
  iso::end_heap(h);
}
