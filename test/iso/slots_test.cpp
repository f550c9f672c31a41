// Slots of one rank, case by case.
#include "slot_stores.hpp"

namespace {

using namespace nth::test;

class one_store : public testing::Test {
protected:
  void open(slot slots, slot cache = 4, int ranks = 1, distribution spread = {}) {
    slot_setting s;
    s.bytes = static_cast<std::size_t>(slots) << 16;
    s.ranks = ranks;
    s.spread = spread;
    s.cache = cache;
    ASSERT_TRUE(store.open(s));
    ASSERT_EQ(store.size(), slots);
  }
  void TearDown() override {
    os::fail_never();
    store.close();
  }
  slot take(slot count) {
    slot first = no_slot;
    return store.take(count, first) == taking::ok ? first : no_slot;
  }
  taking answer(slot count) {
    slot first = no_slot;
    return store.take(count, first);
  }
  long resident() const { return resident_pages(store.base(), store.bytes()); }
  slot_store store;
};

TEST_F(one_store, geometry) {
  open(100);
  EXPECT_TRUE(store.is_open());
  EXPECT_EQ(store.slot_bytes(), 65536U);
  EXPECT_EQ(store.bytes(), 100U << 16);
  EXPECT_EQ(store.base() % store.slot_bytes(), 0U);
  EXPECT_EQ(store.slot_of(store.address_of(99)), 99);
  EXPECT_EQ(store.slot_of(store.address_of(99) + 65535), 99);
  EXPECT_TRUE(store.holds(store.base()));
  EXPECT_TRUE(store.holds(store.base() + store.bytes() - 1));
  EXPECT_FALSE(store.holds(store.base() + store.bytes()));
  EXPECT_FALSE(store.holds(store.base() - 1));
}

TEST_F(one_store, settings_that_make_no_sense_are_refused) {
  slot_setting good;
  good.bytes = 100U << 16;
  const auto refused = [&](auto change) {
    slot_setting s = good;
    change(s);
    return !store.open(s) && !store.is_open();
  };
  EXPECT_TRUE(refused([](slot_setting &s) { s.bytes = 0; }));
  EXPECT_TRUE(refused([](slot_setting &s) { s.bytes = 65535; }));
  EXPECT_TRUE(refused([](slot_setting &s) { s.slot_log2 = 15; }));
  EXPECT_TRUE(refused([](slot_setting &s) { s.slot_log2 = 64; }));
  EXPECT_TRUE(refused([](slot_setting &s) { s.ranks = 0; }));
  EXPECT_TRUE(refused([](slot_setting &s) { s.rank = 1; }));
  EXPECT_TRUE(refused([](slot_setting &s) { s.rank = -1; }));
  EXPECT_TRUE(refused([](slot_setting &s) { s.cache = -1; }));
  EXPECT_TRUE(refused([](slot_setting &s) { s.base = 4096; }));
  EXPECT_FALSE(store.open(good, true)) << "reserved, but where?";
  EXPECT_TRUE(store.open(good));
  EXPECT_FALSE(store.open(good)) << "open already";
}

TEST_F(one_store, what_is_closed_has_nothing) {
  EXPECT_EQ(answer(1), taking::none);
  EXPECT_EQ(store.sell(1, 0).count, 0);
  EXPECT_EQ(store.owned(), 0);
  EXPECT_FALSE(store.commit(0, 1));
  EXPECT_FALSE(store.extend(0, 1, 1));
}

TEST_F(one_store, counts_that_cannot_be) {
  open(100);
  for (const slot count : {slot{0}, slot{-1}, INT64_MIN, slot{101}, INT64_MAX})
    EXPECT_EQ(answer(count), taking::none) << count;
  EXPECT_EQ(take(10), 0);
  EXPECT_TRUE(store.extend(0, 10, 0));
  EXPECT_FALSE(store.extend(0, 10, -1));
  EXPECT_FALSE(store.extend(0, 10, 91));
  EXPECT_FALSE(store.extend(0, 10, INT64_MAX));
  EXPECT_FALSE(store.extend(0, INT64_MAX, 1));
  EXPECT_FALSE(store.extend(-1, 10, 1));
  EXPECT_FALSE(store.extend(0, 100, 1));
  EXPECT_FALSE(store.commit(0, 0));
  EXPECT_FALSE(store.commit(99, 2));
  EXPECT_FALSE(store.commit(-1, 1));
  EXPECT_EQ(store.sell(0, 1).count, 0);
  EXPECT_EQ(store.sell(101, 0).count, 0);
  EXPECT_EQ(store.owned(), 90);
  EXPECT_EQ(store.count().taken, 10);
}

TEST_F(one_store, all_can_be_taken_and_come_back) {
  open(100);
  EXPECT_EQ(take(40), 0);
  EXPECT_EQ(take(60), 40);
  EXPECT_EQ(answer(1), taking::none);
  EXPECT_EQ(store.longest(), 0);
  store.give(40, 60);
  EXPECT_EQ(answer(61), taking::none);
  store.give(0, 40);
  EXPECT_EQ(store.longest(), 100);
  EXPECT_EQ(take(100), 0);
  EXPECT_EQ(store.count().taken, 100);
  EXPECT_EQ(store.count().most_taken, 100);
}

TEST_F(one_store, a_slot_given_is_the_next_taken) {
  open(100);
  EXPECT_EQ(take(1), 0);
  EXPECT_EQ(take(1), 1);
  EXPECT_EQ(take(1), 2);
  store.give(0, 1);
  store.give(2, 1);
  store.give(1, 1);
  EXPECT_EQ(store.count().mapped, 3);
  write_marks(store, 50, 0); // its window is readable and writable
  EXPECT_EQ(take(1), 1);
  EXPECT_EQ(take(1), 2);
  EXPECT_EQ(take(1), 0);
  EXPECT_EQ(store.count().mapped, 0);
}

TEST_F(one_store, the_cache_keeps_no_more_than_it_may) {
  open(100, 4);
  const bool known = residency_is_known();
  ASSERT_EQ(take(20), 0);
  for (slot s = 0; s < 20; ++s)
    write_marks(store, s, 7);
  for (slot s = 0; s < 20; ++s) {
    store.give(s, 1);
    EXPECT_LE(store.count().mapped, 4);
  }
  EXPECT_EQ(store.count().mapped, 4);
  if (known) {
    EXPECT_EQ(resident(), 8) << "two pages of each of four slots";
  }
  for (slot s = 20; s-- > 16;) { // the last ones stay
    EXPECT_EQ(take(1), s);
    EXPECT_TRUE(has_marks(store, s, 7));
  }
  EXPECT_EQ(take(1), 0);
  EXPECT_FALSE(has_marks(store, 0, 7));
}

TEST_F(one_store, a_series_is_kept_when_it_fits) {
  open(100, 4);
  ASSERT_EQ(take(3), 0);
  write_marks(store, 1, 7);
  store.give(0, 3);
  EXPECT_EQ(store.count().mapped, 3);
  ASSERT_EQ(take(5), 0);
  EXPECT_TRUE(has_marks(store, 1, 7));
  EXPECT_EQ(store.count().mapped, 0);
  store.give(0, 5);
  EXPECT_EQ(store.count().mapped, 0);
  ASSERT_EQ(take(5), 0);
  EXPECT_FALSE(has_marks(store, 1, 7)) << "too many: their memory went";
}

TEST_F(one_store, without_a_cache_nothing_is_kept) {
  open(10, 0);
  ASSERT_EQ(take(1), 0);
  write_marks(store, 0, 7);
  store.give(0, 1);
  EXPECT_EQ(store.count().mapped, 0);
  if (residency_is_known()) {
    EXPECT_EQ(resident(), 0);
  }
  ASSERT_EQ(take(1), 0);
}

TEST_F(one_store, hints_out_of_date_do_no_harm) {
  open(64, 16);
  for (int round = 0; round < 1000; ++round) { // each leaves hints of slots that the series takes
    ASSERT_EQ(take(8), 0);
    store.give(0, 4);
    store.give(4, 4);
    ASSERT_LE(store.count().mapped, 16);
  }
  for (int i = 0; i < 64; ++i)
    ASSERT_NE(take(1), no_slot);
  EXPECT_EQ(take(1), no_slot);
  EXPECT_EQ(store.count().mapped, 0);
}

// However many hints have come after it, the oldest of the cache is the first to leave.
TEST_F(one_store, hints_out_of_date_push_none_out) {
  open(100, 4);
  ASSERT_EQ(take(60), 0);
  write_marks(store, 50, 7);
  store.give(50, 1);
  store.give(0, 2);
  for (int round = 0; round < 1000; ++round) {
    ASSERT_EQ(take(2), 0);
    store.give(0, 2);
  }
  EXPECT_EQ(store.count().mapped, 3);
  store.give(10, 1);
  store.give(11, 1);
  EXPECT_EQ(store.count().mapped, 4);
  if (residency_is_known()) {
    EXPECT_EQ(resident(), 0) << "slot 50 has left";
  }
  for (const slot s : {11, 10, 0, 1})
    EXPECT_EQ(take(1), s);
  EXPECT_EQ(store.count().mapped, 0);
}

TEST_F(one_store, grows_in_place) {
  open(100);
  ASSERT_EQ(take(10), 0);
  ASSERT_EQ(take(1), 10);
  EXPECT_FALSE(store.extend(0, 10, 1));
  EXPECT_TRUE(store.extend(10, 1, 20));
  write_marks(store, 30, 7);
  EXPECT_EQ(take(1), 31);
  EXPECT_EQ(store.count().taken, 32);
}

TEST_F(one_store, frozen_it_gives_nothing_away_and_keeps_what_it_is_given) {
  open(100);
  ASSERT_EQ(take(10), 0);
  store.freeze();
  EXPECT_TRUE(store.is_frozen());
  EXPECT_EQ(answer(1), taking::frozen);
  EXPECT_EQ(answer(0), taking::none);
  EXPECT_FALSE(store.extend(0, 10, 1));
  EXPECT_EQ(store.sell(1, 1).count, 0);
  store.give(0, 2);
  const auto runs = all_runs(store);
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].first, 10) << "what is given waits";
  EXPECT_EQ(store.owned(), 92);
  store.remove({50, 50});
  store.thaw();
  EXPECT_FALSE(store.is_frozen());
  EXPECT_EQ(store.owned(), 42);
  EXPECT_EQ(store.count().mapped, 2);
  EXPECT_EQ(take(1), 0);
  EXPECT_EQ(take(41), no_slot);
  EXPECT_EQ(take(40), 10);
}

TEST_F(one_store, thawing_obeys_the_bound_of_the_cache) {
  open(100, 4);
  ASSERT_EQ(take(50), 0);
  for (slot s = 0; s < 50; ++s)
    write_marks(store, s, 7);
  store.give(48, 2);
  store.freeze();
  for (slot s = 0; s < 20; s += 2)
    store.give(s, 1);
  store.give(30, 10);
  store.thaw();
  EXPECT_EQ(store.count().mapped, 4);
  EXPECT_EQ(store.owned(), 72);
  if (residency_is_known()) {
    EXPECT_EQ(resident(), 2 * (50 - 22 + 4));
  }
}

TEST_F(one_store, lists_by_pieces) {
  open(100);
  ASSERT_EQ(take(100), 0);
  for (const slot s : {3, 4, 10, 20, 99})
    store.give(s, 1);
  store.freeze();
  slot_range to[3];
  slot covered = -1;
  EXPECT_EQ(store.list(0, to, 3, covered), 3U);
  EXPECT_EQ(to[0].first, 3);
  EXPECT_EQ(to[0].count, 2);
  EXPECT_EQ(covered, 21);
  EXPECT_EQ(store.list(covered, to, 3, covered), 1U);
  EXPECT_EQ(to[0].first, 99);
  EXPECT_EQ(covered, 100);
  EXPECT_EQ(store.list(4, to, 0, covered), 0U);
  EXPECT_EQ(covered, 4);
  EXPECT_EQ(store.list(100, to, 3, covered), 0U);
  EXPECT_EQ(covered, 100);
}

TEST_F(one_store, what_is_sold_has_no_memory) {
  open(100, 10);
  ASSERT_EQ(take(10), 0);
  for (slot s = 0; s < 10; ++s)
    write_marks(store, s, 7);
  store.give(0, 3);
  store.give(5, 5);
  const slot_range sold = store.sell(2, 1);
  EXPECT_EQ(sold.first, 0);
  EXPECT_EQ(sold.count, 3);
  EXPECT_EQ(store.count().mapped, 5);
  if (residency_is_known()) {
    EXPECT_EQ(resident(), 2 * 7);
  }
  EXPECT_EQ(store.owned(), 95);
  store.freeze();
  store.remove({5, 5});
  EXPECT_EQ(store.count().mapped, 0);
  if (residency_is_known()) {
    EXPECT_EQ(resident(), 2 * 2) << "of the slots in use";
  }
}

TEST_F(one_store, keeps_half_unless_more_is_needed) {
  open(100);
  EXPECT_EQ(store.sell(10, 1000).count, 50);
  EXPECT_EQ(store.sell(40, 1000).count, 40) << "no more than was asked for";
  EXPECT_EQ(store.sell(1, -5).count, 1);
  EXPECT_EQ(store.sell(10, 0).count, 0);
  EXPECT_EQ(store.owned(), 9);
}

TEST_F(one_store, replaces_a_window) {
  open(100, 100);
  ASSERT_EQ(take(60), 0);
  for (slot s = 0; s < 60; ++s)
    write_marks(store, s, 7);
  store.give(20, 20);
  store.freeze();
  store.give(10, 2); // waits, in the window
  const slot_range now[] = {{0, 5}, {25, 5}, {30, 5}, {70, 10}, {85, 15}};
  store.replace({3, 90}, now, 5);
  const auto runs = all_runs(store);
  ASSERT_EQ(runs.size(), 4U);
  EXPECT_EQ(runs[0].first, 3);
  EXPECT_EQ(runs[0].count, 2);
  EXPECT_EQ(runs[1].first, 25);
  EXPECT_EQ(runs[1].count, 10);
  EXPECT_EQ(runs[2].first, 70);
  EXPECT_EQ(runs[2].count, 10);
  EXPECT_EQ(runs[3].first, 85);
  EXPECT_EQ(runs[3].count, 15);
  EXPECT_EQ(store.owned(), 39);
  EXPECT_EQ(store.count().mapped, 10);
  if (residency_is_known()) {
    EXPECT_EQ(resident(), 2 * (60 - 10));
  }
  store.replace({0, 100}, nullptr, 0);
  EXPECT_EQ(store.owned(), 2);
  EXPECT_EQ(store.longest(), 0);
  store.thaw();
  EXPECT_EQ(take(2), 10);
}

TEST_F(one_store, arriving_slots_are_usable_and_nobodys) {
  open(100, 4, 2);
  EXPECT_TRUE(store.commit(80, 5));
  for (slot s = 80; s < 85; ++s)
    write_marks(store, s, 7);
  EXPECT_EQ(store.owned(), 50);
  EXPECT_EQ(store.count().taken, 5);
  store.discard(80, 2);
  EXPECT_EQ(store.count().taken, 3);
  store.give(82, 3);
  EXPECT_EQ(store.owned(), 53);
  EXPECT_EQ(store.count().taken, 0);
}

// Searches that failed once are not made again.
TEST_F(one_store, knows_its_longest_series) {
  open(slot{1} << 18, 4, 2, {spread::cyclic, 1, nullptr});
  EXPECT_EQ(store.longest(), 1);
  EXPECT_EQ(answer(2), taking::none);
  EXPECT_EQ(take(1), 0);
  store.give(0, 1);
  EXPECT_EQ(store.longest(), 1) << "it has no neighbours";
  store.add({1, 1});
  EXPECT_EQ(store.longest(), 3);
  EXPECT_EQ(take(3), 0);
  EXPECT_EQ(answer(2), taking::none);
  EXPECT_EQ(store.longest(), 1);
}

TEST_F(one_store, of_the_users_distribution_knows_what_it_owns) {
  open(1000, 4, 3, {spread::user, 1, [](long s, long, int) { return s % 10 == 0 ? 0 : 1; }});
  EXPECT_EQ(take(1), 0);
  EXPECT_EQ(store.owned(), 99);
  EXPECT_EQ(answer(2), taking::none);
  EXPECT_EQ(store.longest(), 1);
  EXPECT_EQ(store.sell(1, 10).first, 10);
}

} // namespace
