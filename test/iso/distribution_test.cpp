// Which rank owns which slot at the start: every slot has one owner, and all questions get the same answer.
#include "iso/distribution.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

using namespace nth::detail::iso;

int by_thirds(long s, long slots, int ranks) {
  return s < slots / 3 ? ranks - 1 : static_cast<int>(s % ranks);
}

std::vector<distribution> all_kinds() {
  return {{spread::partitioned, 1, nullptr},   {spread::cyclic, 1, nullptr},
          {spread::block_cyclic, 1, nullptr},  {spread::block_cyclic, 3, nullptr},
          {spread::block_cyclic, 16, nullptr}, {spread::block_cyclic, 64, nullptr},
          {spread::block_cyclic, 65, nullptr}, {spread::block_cyclic, 500, nullptr},
          {spread::user, 1, by_thirds}};
}

TEST(distribution, every_slot_has_one_owner_and_all_questions_agree) {
  for (const distribution &d : all_kinds()) {
    for (const slot slots : {1, 2, 63, 64, 65, 128, 1000, 4096 + 7}) {
      for (const int ranks : {1, 2, 3, 7, 64, 65, 200}) {
        std::vector<int> owners(static_cast<std::size_t>(slots));
        std::vector<slot> counts(static_cast<std::size_t>(ranks));
        for (slot s = 0; s < slots; ++s) {
          const int owner = d.owner_of(s, slots, ranks);
          ASSERT_TRUE(0 <= owner && owner < ranks);
          owners[static_cast<std::size_t>(s)] = owner;
          ++counts[static_cast<std::size_t>(owner)];
        }
        for (int r = 0; r < ranks; ++r) {
          SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(d.kind) << " series " << d.series
                                          << " slots " << slots << " rank " << r << " of " << ranks);
          const slot_range hull = d.hull(slots, r, ranks);
          slot run = 0;
          for (slot s = 0; s < slots; ++s) {
            const bool ours = owners[static_cast<std::size_t>(s)] == r;
            ASSERT_EQ(d.word(s / 64, slots, r, ranks) >> s % 64 & 1, ours ? 1U : 0U) << s;
            ASSERT_TRUE(!ours || (hull.first <= s && s < hull.end())) << s;
            run = ours ? run + 1 : 0;
            ASSERT_LE(run, d.longest_series(slots, ranks));
          }
          if (slots % 64 != 0) {
            ASSERT_EQ(d.word(slots / 64, slots, r, ranks) >> slots % 64, 0U) << "behind the last slot";
          }
          ASSERT_EQ(d.count(slots, r, ranks), counts[static_cast<std::size_t>(r)]);
        }
      }
    }
  }
}

TEST(distribution, partitions_are_where_they_are_said_to_be) {
  const distribution d{};
  for (const slot slots : {10L, 1000L, 1L << 28, (1L << 31) - 1}) {
    for (const int ranks : {1, 3, 4, 1000}) {
      for (const int r : {0, ranks / 2, ranks - 1}) {
        const slot begin = r * slots / ranks;
        const slot end = (r + 1) * slots / ranks;
        if (begin == end)
          continue;
        EXPECT_EQ(d.owner_of(begin, slots, ranks), r);
        EXPECT_EQ(d.owner_of(end - 1, slots, ranks), r);
      }
    }
  }
}

TEST(distribution, bounds_are_tight_where_they_can_be) {
  distribution d{};
  EXPECT_EQ(d.longest_series(1000, 4), 250);
  EXPECT_EQ(d.longest_series(1001, 4), 251);
  d.kind = spread::cyclic;
  EXPECT_EQ(d.longest_series(1000, 4), 1);
  EXPECT_EQ(d.longest_series(1000, 1), 1000);
  d = {spread::block_cyclic, 16, nullptr};
  EXPECT_EQ(d.longest_series(1000, 4), 16);
  EXPECT_EQ(d.longest_series(10, 4), 10);
}

TEST(distribution, names_are_read) {
  user_distribution = nullptr;
  distribution d{spread::cyclic, 1, nullptr};
  EXPECT_TRUE(d.parse(nullptr));
  EXPECT_EQ(d.kind, spread::partitioned);
  EXPECT_TRUE(d.parse("cyclic"));
  EXPECT_EQ(d.kind, spread::cyclic);
  EXPECT_TRUE(d.parse(""));
  EXPECT_EQ(d.kind, spread::partitioned);
  EXPECT_TRUE(d.parse("block-cyclic"));
  EXPECT_EQ(d.kind, spread::block_cyclic);
  EXPECT_EQ(d.series, 16);
  EXPECT_TRUE(d.parse("block-cyclic:5"));
  EXPECT_EQ(d.series, 5);
  EXPECT_TRUE(d.parse("partitioned"));
  EXPECT_EQ(d.kind, spread::partitioned);
}

TEST(distribution, other_texts_are_refused_and_change_nothing) {
  user_distribution = nullptr;
  for (const char *text :
       {"user", "Cyclic", "cyclic ", "block", "block-cyclic:", "block-cyclic:0", "block-cyclic:-1",
        "block-cyclic:1x", "block-cyclic: 1", "block-cyclic:99999999999999999999999", "blocks"}) {
    distribution d{spread::block_cyclic, 7, nullptr};
    EXPECT_FALSE(d.parse(text)) << text;
    EXPECT_EQ(d.kind, spread::block_cyclic) << text;
    EXPECT_EQ(d.series, 7) << text;
  }
}

TEST(distribution, the_users_needs_a_function) {
  user_distribution = by_thirds;
  distribution d;
  EXPECT_TRUE(d.parse("user"));
  EXPECT_EQ(d.kind, spread::user);
  EXPECT_EQ(d.owner_of(0, 9, 4), 3);
  EXPECT_EQ(d.owner_of(4, 9, 4), 0);
  user_distribution = nullptr;
}

TEST(distribution, answers_that_are_no_rank_make_slots_nobodys) {
  const distribution d{spread::user, 1, [](long s, long, int) { return s % 2 == 0 ? -1 : 99; }};
  for (const int r : {0, 1, 2})
    EXPECT_EQ(d.word(0, 64, r, 3), 0U);
  EXPECT_EQ(d.count(64, 0, 3), 0);
}

} // namespace
