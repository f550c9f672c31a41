// Classes of sizes: each size has one, little is wasted, runs have no rest, the division by a size is exact.
#include "iso/chunk.hpp"

#include <gtest/gtest.h>

#include <bit>

namespace iso = nth::detail::iso;

TEST(classes, hold_their_sizes) {
  for (std::size_t size = 1; size <= iso::most_listed; ++size) {
    const unsigned c = iso::class_of(size);
    ASSERT_LT(c, iso::list_classes);
    ASSERT_GE(iso::size_of_class(c), size);
    if (c != 0) {
      ASSERT_LT(iso::size_of_class(c - 1), size);
    }
  }
  for (std::size_t size = iso::most_listed + 1; size <= iso::most_span; ++size) {
    const unsigned c = iso::span_class(size);
    ASSERT_LT(c, iso::no_class);
    ASSERT_GE(iso::size_of_class(c), size);
    ASSERT_LT(iso::size_of_class(c) - size, iso::unit_bytes);
  }
}

TEST(classes, waste_at_most_an_eighth_above_128) {
  for (std::size_t size = 129; size <= iso::most_listed; ++size)
    ASSERT_LE((iso::size_of_class(iso::class_of(size)) - size) * 8, size);
}

TEST(classes, runs_hold_blocks_without_rest) {
  for (unsigned c = 0; c < iso::no_class; ++c) {
    const std::size_t blocks = static_cast<std::size_t>(std::popcount(iso::facts[c].all));
    EXPECT_EQ(iso::facts[c].size * blocks, iso::class_units[c] * iso::unit_bytes) << c;
    EXPECT_LE(iso::class_units[c], c < iso::list_classes ? 15U : iso::most_units);
  }
}

TEST(classes, reciprocals_divide_every_offset) {
  for (unsigned c = 0; c < iso::no_class; ++c)
    for (std::uint64_t offset = 0; offset < iso::chunk_bytes; ++offset)
      ASSERT_EQ(offset * iso::facts[c].reciprocal >> 32, offset / iso::facts[c].size) << c << ' ' << offset;
}

// By the rest of the multiplication; and by the short way nothing that has no chain, whatever the offset.
TEST(classes, blocks_begin_at_multiples_alone) {
  for (unsigned c = 0; c <= iso::no_class; ++c)
    for (std::uint64_t offset = 0; offset < iso::chunk_bytes; ++offset) {
      const bool multiple = c < iso::no_class && offset % iso::facts[c].size == 0;
      ASSERT_EQ(static_cast<std::uint32_t>(offset * iso::facts[c].reciprocal) < iso::facts[c].reciprocal,
                multiple);
      const std::uint64_t shortly = iso::shortly[c].reciprocal;
      ASSERT_EQ(static_cast<std::uint32_t>(offset * shortly) < shortly, multiple && c < iso::recent_classes);
    }
}

TEST(classes, multiples_of_an_alignment_have_one) {
  for (std::size_t alignment = 16; alignment <= iso::unit_bytes; alignment *= 2)
    for (std::size_t size = alignment; size <= iso::most_listed; size += alignment)
      ASSERT_EQ(iso::size_of_class(iso::class_of(size)) % alignment, 0U) << size;
}
