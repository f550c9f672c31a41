// NTH_ISO_CHECK: what is written behind a block is found.
#include "heap_area.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace iso = nth::detail::iso;
using iso::heap_error;

namespace {

struct checked_heap : testing::Test {
  void SetUp() override {
    iso::checking = true;
    h = iso::new_heap();
    other = iso::new_heap();
  }
  void TearDown() override {
    iso::end_heap(h);
    iso::end_heap(other);
    iso::checking = false;
  }
  iso::heap_area area{std::size_t{64} << 20};
  iso::heap *h{nullptr};
  iso::heap *other{nullptr};
};

} // namespace

TEST_F(checked_heap, sizes_are_those_that_were_asked_for) {
  for (std::size_t size = 1; size < 2'000'000; size += 1 + size / 7) {
    auto *b = static_cast<unsigned char *>(iso::get(h, size));
    ASSERT_NE(b, nullptr);
    ASSERT_EQ(iso::room_of(b), size);
    std::memset(b, 255, size);
    ASSERT_EQ(iso::release(size % 2 == 0 ? h : other, b), heap_error::none) << size;
  }
}

TEST_F(checked_heap, a_byte_behind_a_block_is_found) {
  for (std::size_t size = 1; size < 200'000; size += 1 + size / 7)
    for (const std::size_t far : {0, 1, 7}) {
      auto *b = static_cast<unsigned char *>(iso::get(h, size));
      const unsigned char was = b[size + far];
      b[size + far] = was ^ 1;
      ASSERT_EQ(iso::release(h, b), heap_error::overrun) << size;
      ASSERT_EQ(iso::release(other, b), heap_error::overrun) << size;
      ASSERT_FALSE(iso::resize(h, b, size));
      b[size + far] = was;
      ASSERT_EQ(iso::release(h, b), heap_error::none);
    }
}

TEST_F(checked_heap, freed_memory_is_filled) {
  auto *neighbour = static_cast<unsigned char *>(iso::get(h, 100));
  auto *b = static_cast<unsigned char *>(iso::get(h, 100));
  std::memset(b, 1, 100);
  ASSERT_EQ(iso::release(h, b), heap_error::none);
  for (int i = 0; i < 100; ++i)
    ASSERT_EQ(b[i], 0xDF);
  EXPECT_EQ(iso::release(h, b), heap_error::freed);
  EXPECT_EQ(iso::release(h, neighbour), heap_error::none);
}

TEST_F(checked_heap, resizing_moves_the_end) {
  for (const std::size_t size : {100U, 30'000U, 500'000U}) {
    auto *b = static_cast<unsigned char *>(iso::get(h, size));
    ASSERT_TRUE(iso::resize(h, b, size - 5));
    EXPECT_EQ(iso::room_of(b), size - 5);
    b[size - 5] = 1;
    EXPECT_EQ(iso::release(h, b), heap_error::overrun);
    EXPECT_FALSE(iso::resize(h, b, size));
  }
  auto *b = static_cast<unsigned char *>(iso::get(h, 500'000));
  ASSERT_TRUE(iso::resize(h, b, 5'000'000));
  std::memset(b, 3, 5'000'000);
  ASSERT_TRUE(iso::resize(h, b, 200'000));
  EXPECT_EQ(iso::room_of(b), 200'000U);
  EXPECT_EQ(iso::release(other, b), heap_error::none);
}

TEST_F(checked_heap, alignments) {
  for (std::size_t alignment = 16; alignment <= 1 << 20; alignment *= 2)
    for (const std::size_t size : {std::size_t{1}, alignment, std::size_t{70'000}}) {
      auto *b = static_cast<unsigned char *>(iso::get(h, size, alignment));
      ASSERT_EQ(reinterpret_cast<std::uintptr_t>(b) % alignment, 0U);
      ASSERT_EQ(iso::room_of(b), size);
      std::memset(b, 0, size);
      ASSERT_EQ(iso::release(h, b), heap_error::none);
    }
}
