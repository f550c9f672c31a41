// Memory that keeps its address, on one rank: sizes, alignments, errors.
#include "iso.hpp"

#include <map>
#include <string>
#include <vector>

using namespace nth::test;

namespace {

class iso : public testing::TestWithParam<nth_policy> {
protected:
  static nth_options chosen() { return options(2, GetParam()); }
  const watchdog guard{120};
};

TEST_P(iso, blocks_of_all_sizes_keep_their_bytes_and_touch_no_other) {
  const runtime up(chosen());
  run([] {
    std::vector<std::size_t> sizes;
    for (std::size_t size = 0; size < 300; ++size)
      sizes.push_back(size);
    for (std::size_t power = 512; power <= std::size_t{8} << 20; power *= 2)
      for (const std::size_t size : {power - 1, power, power + 1, power + power / 2})
        sizes.push_back(size);
    std::vector<void *> blocks;
    std::map<std::uintptr_t, std::size_t> places;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      void *block = nth_isomalloc(sizes[i]);
      ASSERT_NE(block, nullptr) << sizes[i] << ": " << nth_last_error();
      EXPECT_TRUE(is_multiple(block, 16)) << sizes[i];
      EXPECT_GE(nth_isousable_size(block), sizes[i]);
      fill(block, sizes[i], static_cast<unsigned>(i));
      blocks.push_back(block);
      places[reinterpret_cast<std::uintptr_t>(block)] = nth_isousable_size(block);
    }
    EXPECT_EQ(places.size(), blocks.size()) << "blocks of size 0 differ from each other too";
    std::uintptr_t end = 0;
    for (const auto &[begin, bytes] : places) {
      EXPECT_GE(begin, end) << "blocks overlap";
      end = begin + bytes;
    }
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      EXPECT_TRUE(is_filled(blocks[i], sizes[i], static_cast<unsigned>(i))) << sizes[i];
      nth_isofree(blocks[i]);
    }
  });
  expect_slots_taken(0);
}

TEST_P(iso, realloc_keeps_the_first_bytes) {
  const runtime up(chosen());
  run([] {
    void *block = nth_isorealloc(nullptr, 10);
    ASSERT_NE(block, nullptr);
    fill(block, 10, 3);
    std::size_t filled = 10;
    for (const std::size_t size : {11UL, 100UL, 5000UL, 31'000UL, 200'000UL, 3'000'000UL, 2'000'000UL,
                                   40'000UL, 600UL, 20UL, 5UL, 700'000UL, 1UL}) {
      void *moved = nth_isorealloc(block, size);
      ASSERT_NE(moved, nullptr) << size << ": " << nth_last_error();
      EXPECT_GE(nth_isousable_size(moved), size);
      const std::size_t kept = filled < size ? filled : size;
      EXPECT_TRUE(is_filled(moved, kept, 3)) << size;
      fill(moved, size, 3);
      filled = size;
      block = moved;
    }
    EXPECT_EQ(nth_isorealloc(block, 0), nullptr);
    const reports told;
    nth_isofree(block);
    EXPECT_EQ(told.count(), 1) << "of size 0 it frees the block";
  });
}

TEST_P(iso, realloc_that_fails_leaves_the_block) {
  const runtime up(chosen());
  run([] {
    for (const std::size_t size : {50UL, 100'000UL}) {
      void *block = nth_isomalloc(size);
      ASSERT_NE(block, nullptr);
      fill(block, size, 9);
      for (const std::size_t much : {SIZE_MAX, SIZE_MAX / 2, std::size_t{1} << 60}) {
        errno = 0;
        EXPECT_EQ(nth_isorealloc(block, much), nullptr) << much;
        EXPECT_EQ(errno, ENOMEM);
        EXPECT_THAT_NAMES(nth_last_error(), "nth_isorealloc");
        EXPECT_THAT_NAMES(nth_last_error(), "NTH_ISO_SIZE");
      }
      EXPECT_TRUE(is_filled(block, size, 9));
      nth_isofree(block);
    }
  });
}

TEST_P(iso, calloc_zeroes_also_what_was_used_before) {
  const runtime up(chosen());
  run([] {
    for (const std::size_t size : {1UL, 48UL, 1000UL, 20'000UL, 500'000UL}) {
      for (int round = 0; round < 3; ++round) {
        auto *block = static_cast<unsigned char *>(nth_isocalloc(size, 3));
        ASSERT_NE(block, nullptr);
        for (std::size_t i = 0; i < 3 * size; ++i)
          ASSERT_EQ(block[i], 0) << size << ", byte " << i;
        std::memset(block, 0xff, 3 * size);
        nth_isofree(block);
      }
    }
    void *none = nth_isocalloc(0, 8);
    void *nothing = nth_isocalloc(8, 0);
    EXPECT_NE(none, nullptr);
    EXPECT_NE(nothing, nullptr);
    EXPECT_NE(none, nothing);
    nth_isofree(none);
    nth_isofree(nothing);
    for (const std::size_t much : {std::size_t{1} << 32, SIZE_MAX}) {
      errno = 0;
      volatile std::size_t count = much;
      EXPECT_EQ(nth_isocalloc(count, much), nullptr);
      EXPECT_EQ(errno, ENOMEM);
      EXPECT_THAT_NAMES(nth_last_error(), "nth_isocalloc");
    }
  });
}

TEST_P(iso, alignments) {
  const runtime up(chosen());
  run([] {
    for (auto allocate : {nth_isoaligned_alloc, nth_isoaligned_alloc_here}) {
      for (std::size_t alignment = 1; alignment <= std::size_t{4} << 20; alignment *= 2) {
        for (const std::size_t size : {0UL, 1UL, 24UL, 1000UL, 30'000UL, 70'000UL}) {
          void *block = allocate(alignment, size);
          void *other = allocate(alignment, size);
          ASSERT_NE(block, nullptr) << alignment << ": " << nth_last_error();
          ASSERT_NE(other, nullptr) << alignment << ": " << nth_last_error();
          EXPECT_NE(block, other);
          EXPECT_TRUE(is_multiple(block, alignment)) << alignment << ' ' << size;
          EXPECT_TRUE(is_multiple(other, alignment)) << alignment << ' ' << size;
          EXPECT_TRUE(is_multiple(block, 16));
          EXPECT_GE(nth_isousable_size(block), size);
          fill(block, size, 1);
          fill(other, size, 2);
          EXPECT_TRUE(is_filled(block, size, 1));
          nth_isofree(block);
          EXPECT_TRUE(is_filled(other, size, 2));
          nth_isofree(other);
        }
      }
      for (const std::size_t wrong : {0UL, 3UL, 24UL, 65'537UL, SIZE_MAX}) {
        volatile std::size_t alignment = wrong;
        errno = 0;
        EXPECT_EQ(allocate(alignment, 10), nullptr) << wrong;
        EXPECT_EQ(errno, EINVAL);
        EXPECT_THAT_NAMES(nth_last_error(), "alignment");
        EXPECT_THAT_NAMES(nth_last_error(), "nth_isoaligned_alloc");
      }
      errno = 0;
      volatile std::size_t huge = std::size_t{1} << 62;
      EXPECT_EQ(allocate(huge, 10), nullptr);
      EXPECT_EQ(errno, ENOMEM);
    }
  });
}

TEST_P(iso, errno_is_left_alone_where_nothing_fails) {
  const runtime up(chosen());
  run([] {
    errno = 77;
    work_with_blocks(1);
    EXPECT_EQ(errno, 77);
  });
  errno = 77;
  work_with_blocks(2);
  EXPECT_EQ(errno, 77);
}

TEST_P(iso, without_a_run) {
  const auto refused = [] {
    for (int i = 0; i < 5; ++i) {
      errno = 0;
      void *block = i == 0   ? nth_isomalloc(10)
                    : i == 1 ? nth_isocalloc(2, 10)
                    : i == 2 ? nth_isorealloc(nullptr, 10)
                    : i == 3 ? nth_isoaligned_alloc(64, 10)
                             : nth_isoaligned_alloc_here(64, 10);
      EXPECT_EQ(block, nullptr) << i;
      EXPECT_EQ(errno, EINVAL) << i;
      EXPECT_THAT_NAMES(nth_last_error(), "nth_init");
    }
    nth_iso_stats s;
    EXPECT_EQ(nth_get_iso_stats(&s), NTH_ESTATE);
    EXPECT_EQ(nth_get_iso_stats(nullptr), NTH_EINVAL);
    nth_isofree(nullptr);
    EXPECT_EQ(nth_isousable_size(nullptr), 0U);
  };
  refused();
  void *block = nullptr;
  {
    const runtime up(chosen());
    EXPECT_EQ(iso_stats().slots, 0) << "nothing is reserved before somebody asks";
    block = nth_isomalloc(100);
    ASSERT_NE(block, nullptr);
    EXPECT_GT(iso_stats().slots, 0);
  }
  refused();
  EXPECT_EQ(nth_isousable_size(block), 0U);
  const reports told;
  nth_isofree(block);
  EXPECT_EQ(told.count(), 1) << "it has ended with the run";
  EXPECT_EQ(told.last_status(), NTH_EINVAL);
}

TEST_P(iso, cycles_of_init_and_finalize) {
  for (int cycle = 0; cycle < 20; ++cycle) {
    const runtime up(chosen());
    void *kept = nth_isomalloc(200); // not freed
    ASSERT_NE(kept, nullptr) << nth_last_error();
    EXPECT_EQ(iso_stats().slots_taken, 1) << "the rank's own heap";
    run([] { work_with_blocks(1); });
    run([] { static_cast<void>(!nth_isomalloc(1'000'000)); });
    expect_slots_taken(1);
    EXPECT_EQ(counters().descriptors, counters().descriptors_free);
  }
}

TEST_P(iso, stats_say_what_is_taken) {
  nth_options o = chosen();
  o.slot_size = 256 << 10;
  o.iso_size = 1L << 30;
  const runtime up(o);
  run([] {
    void *first = nth_isomalloc(1);
    const nth_iso_stats one = iso_stats();
    EXPECT_EQ(one.slot_bytes, 256 << 10);
    EXPECT_EQ(one.slots, 4096);
    EXPECT_EQ(one.slots_taken, 1);
    EXPECT_EQ(one.slots_owned, 4095);
    EXPECT_GE(one.committed_bytes, 256 << 10);
    void *large = nth_isomalloc(3 << 20);
    const nth_iso_stats two = iso_stats();
    EXPECT_GE(two.slots_taken, 1 + 12);
    EXPECT_LE(two.slots_taken, 1 + 14);
    EXPECT_EQ(two.slots_owned + two.slots_taken, two.slots);
    nth_isofree(large);
    const nth_iso_stats three = iso_stats();
    EXPECT_EQ(three.slots_taken, 1);
    EXPECT_EQ(three.slots_most, two.slots_taken);
    EXPECT_GE(three.slots_mapped, two.slots_taken - 1) << "the cache keeps their memory";
    nth_isofree(first);
  });
  expect_slots_taken(0);
}

TEST_P(iso, exhausted_area_is_an_error_and_all_goes_on) {
  nth_options o = chosen();
  o.iso_size = 1 << 20;
  const runtime up(o);
  for (int round = 0; round < 3; ++round) {
    for (const std::size_t size : {100UL, 3000UL, 30'000UL, 100'000UL}) {
      run([size] {
        std::vector<void *> all;
        while (void *block = nth_isomalloc(size)) {
          fill(block, size, static_cast<unsigned>(all.size()));
          all.push_back(block);
        }
        EXPECT_EQ(errno, ENOMEM);
        EXPECT_THAT_NAMES(nth_last_error(), "nth_isomalloc");
        EXPECT_THAT_NAMES(nth_last_error(), "NTH_ISO_SIZE");
        EXPECT_GE(all.size() * size, 500'000U);
        std::vector<void *> rest; // in slots too few for another of that size
        while (void *block = nth_isomalloc(30'000))
          rest.push_back(block);
        // Another thread has no heap and gets none; it goes on without.
        bool got = true;
        auto asks = [&] { got = nth_isomalloc(10) != nullptr; };
        nth_depadd(nth_self(), 2);
        nth_to_lrq(0, create(asks, nth_self()));
        nth_block();
        EXPECT_FALSE(got);
        EXPECT_EQ(nth_isorealloc(all[0], 700'000), nullptr);
        EXPECT_TRUE(is_filled(all[0], size, 0)) << "as it was";
        for (void *block : rest)
          nth_isofree(block);
        for (std::size_t i = 0; i < all.size(); ++i) {
          EXPECT_TRUE(is_filled(all[i], size, static_cast<unsigned>(i)));
          nth_isofree(all[i]);
        }
        work_with_blocks(5);
      });
      expect_slots_taken(0);
    }
  }
  run([] {
    errno = 0;
    EXPECT_EQ(nth_isomalloc(2 << 20), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    EXPECT_THAT_NAMES(nth_last_error(), "more than the area");
  });
}

INSTANTIATE_TEST_SUITE_P(policies, iso, testing::ValuesIn(all_policies),
                         [](const auto &one) { return name_of(one.param); });

} // namespace
