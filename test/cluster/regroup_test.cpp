// Regrouping: as many slots as before, side by side.
#include "cases.hpp"

namespace {

using namespace nth::test;

TEST(regrouping, free_slots_lie_side_by_side) {
  for (const iso::spread kind : {iso::spread::partitioned, iso::spread::cyclic, iso::spread::block_cyclic}) {
    for (int ranks = 1; ranks <= 8; ++ranks) {
      simulation s(of(ranks, kind));
      s.regroup(ranks - 1);
      s.drain(true);
      EXPECT_EQ(s.last_result, taking::ok);
      EXPECT_EQ(s.sum().regroupings, 1);
      EXPECT_EQ(s.sum().rounds, 1);
      for (int r = 0; r < ranks; ++r) {
        EXPECT_EQ(free_slots(s, r), 64);
        EXPECT_EQ(longest_of(s, r), 64); // and a purchase of it needs no other rank
        s.take(r, 64);
      }
      EXPECT_EQ(s.sum().purchases, 0);
    }
  }
}

// With slots in use between: each rank's free slots follow one another among all free ones, so its series are as long
// as those of the whole are, but for one cut at either end.
TEST(regrouping, as_long_as_slots_in_use_allow) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    shape f = of(4, iso::spread::cyclic);
    f.seed = seed;
    simulation s(f);
    take_everything(s);
    for (int r = 0; r < 4; ++r)
      give_back(s, r, [&s](slot) { return s.below(3) != 0; });
    slot had[4];
    for (int r = 0; r < 4; ++r)
      had[r] = free_slots(s, r);
    s.regroup(2);
    s.drain(true);
    slot last = -1;
    for (int r = 0; r < 4; ++r) {
      EXPECT_EQ(free_slots(s, r), had[r]);
      const bits mine = s.owned_by(r);
      for (slot i = 0; i < s.total; ++i) {
        if (mine[static_cast<std::size_t>(i)] == 0)
          continue;
        EXPECT_GT(i, last) << "not in the order of the ranks";
        last = i;
      }
    }
  }
}

TEST(regrouping, window_by_window) {
  for (const std::uint32_t room : {1U, 3U, 10U}) {
    for (int ranks = 2; ranks <= 8; ++ranks) {
      shape f = of(ranks, iso::spread::cyclic);
      f.room = room;
      simulation s(f);
      s.take(0, 1);
      s.regroup(ranks - 1);
      s.drain(true);
      EXPECT_GE(s.sum().rounds, 64 / room);
      for (int r = 0; r < ranks; ++r) {
        EXPECT_EQ(free_slots(s, r), r == 0 ? 63 : 64);
        EXPECT_GE(longest_of(s, r), room);
      }
    }
  }
}

// Rank 0's many slots go where the single ones of others were: more series than a message holds.
TEST(regrouping, a_share_of_many_messages) {
  constexpr slot singles = 4 * most_runs;
  shape f;
  f.ranks = 3;
  f.slots = 4 * most_runs;
  f.slot_log2 = iso::least_slot_log2;
  f.spread.kind = iso::spread::user;
  f.spread.owner = [](long s, long, int) -> int { return s >= singles ? 0 : s % 4 == 2 ? 2 : 1; };
  simulation s(f);
  for (const int r : {1, 2}) {
    const slot own = free_slots(s, r);
    for (slot i = 0; i < own; ++i)
      s.take(r, 1);
  }
  give_back(s, 1, [](slot i) { return i % 4 == 0 && i < singles - 100; });
  give_back(s, 2, [](slot i) { return i % 4 == 2 && i < singles - 100; });
  const slot had = free_slots(s, 0);
  s.regroup(1);
  s.drain();
  EXPECT_EQ(free_slots(s, 0), had);
  EXPECT_EQ(free_slots(s, 1), (singles - 100) / 4);
  EXPECT_EQ(free_slots(s, 2), (singles - 100) / 4);
  EXPECT_GT(sent(s, topic::settle), 2 * s.sum().rounds); // more than one to some rank
  s.check();
}

} // namespace
