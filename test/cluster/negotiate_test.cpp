// Purchases one at a time: what they bring, what they cost in messages, what is left where.
#include "cases.hpp"

#include "os/os_failing.hpp"

namespace {

using namespace nth::test;

TEST(negotiate, what_is_here_needs_no_message) {
  simulation s(of(4, iso::spread::partitioned));
  s.want(2, 60);
  EXPECT_EQ(s.last_result, taking::ok);
  s.drain();
  EXPECT_EQ(all_of(s.sum().sent), 0);
  EXPECT_EQ(s.sum().local, 1);
}

TEST(negotiate, one_round_trip_where_a_rank_has_it) {
  for (int ranks = 2; ranks <= 8; ++ranks) {
    simulation s(of(ranks, iso::spread::partitioned));
    s.want(1, 60);
    s.want(1, 60); // 4 are left here
    s.drain(true);
    EXPECT_EQ(s.last_result, taking::ok);
    EXPECT_EQ(s.last_first, 64 * (2 % ranks)); // from the next rank
    EXPECT_EQ(s.sum().from_one, 1);
    EXPECT_EQ(s.sum().sales, 1);
    EXPECT_EQ(s.sum().slots_sold, 60);
    EXPECT_EQ(all_of(s.sum().sent), 2);
    EXPECT_EQ(s.sum().bytes_sent, s.sum().bytes_received);
    EXPECT_EQ(s.sum().bytes_sent, static_cast<long>(message_bytes(0) + message_bytes(1)));
  }
}

// Known is what a rank has said last, no less than it has: it is asked in vain once for a length.
TEST(negotiate, a_rank_that_has_no_more_is_not_asked_again) {
  simulation s(of(3, iso::spread::partitioned));
  s.want(0, 40);
  s.want(0, 40); // of rank 1, which has 24 then
  s.drain();
  s.want(0, 40); // of rank 2
  s.drain();
  EXPECT_EQ(s.last_first, 128);
  EXPECT_EQ(sent(s, topic::buy), 2);
  for (const long questions : {3, 4, 4, 4}) { // 24 are side by side on each
    s.want(0, 30);
    s.drain();
    EXPECT_EQ(s.last_result, taking::none);
    EXPECT_EQ(sent(s, topic::buy), questions);
  }
  EXPECT_EQ(s.sum().failed, 4);
}

TEST(negotiate, messages_of_the_whole_system_are_counted) {
  for (int ranks = 1; ranks <= 8; ++ranks) {
    for (int buyer = 0; buyer < ranks; ++buyer) {
      simulation s(of(ranks, iso::spread::cyclic));
      if (ranks == 1)
        take_everything(s);
      s.want(buyer, ranks + 3);
      s.drain(true);
      const long others = ranks - 1;
      EXPECT_EQ(all_of(s.sum().sent), 3 * others + (buyer == 0 ? 0 : 3))
          << ranks << " ranks, buyer " << buyer;
      EXPECT_EQ(all_of(s.sum().sent), all_of(s.sum().received));
      for (const topic what : {topic::gather, topic::list, topic::settle})
        EXPECT_EQ(sent(s, what), others);
      EXPECT_EQ(s.sum().rounds, 1);
      EXPECT_EQ(s.sum().system_wide, ranks > 1);
      EXPECT_EQ(s.last_first, ranks > 1 ? 0 : no_slot);
    }
  }
}

TEST(negotiate, extra_slots_come_along) {
  shape f = of(4, iso::spread::cyclic);
  f.prebuy = 10;
  simulation s(f);
  s.want(3, 4);
  s.drain(true);
  EXPECT_EQ(s.last_first, 0);
  EXPECT_EQ(free_slots(s, 3), 64 - 3 + 10); // of [0, 14) it had 3
  EXPECT_EQ(longest_of(s, 3), 10);          // [4, 14)
  const long before = all_of(s.sum().sent);
  s.want(3, 10);
  EXPECT_EQ(s.last_first, 4);
  EXPECT_EQ(all_of(s.sum().sent), before);

  f = of(2, iso::spread::partitioned);
  f.prebuy = 5;
  simulation t(f);
  t.want(0, 64);
  t.want(0, 20);
  t.drain(true);
  EXPECT_EQ(t.last_first, 64);
  EXPECT_EQ(free_slots(t, 0), 5);
  EXPECT_EQ(free_slots(t, 1), 64 - 25);
}

// 64 slots are made accessible at once: the extra ones are the first of others.
TEST(negotiate, extra_slots_have_memory_when_they_are_taken) {
  shape f = of(4, iso::spread::cyclic);
  f.prebuy = 6;
  simulation s(f);
  s.want(1, 62);
  s.drain();
  for (int i = 0; i < 6; ++i)
    s.take(1, 1); // and writes to it
  EXPECT_EQ(all_of(s.sum().sent), 3 * 3 + 3);
  s.check();
}

TEST(negotiate, a_series_may_come_from_all_and_from_many_rounds) {
  for (const std::uint32_t room : {1U, 2U, 3U, 7U}) {
    for (int ranks = 1; ranks <= 8; ++ranks) {
      shape f = of(ranks, iso::spread::cyclic);
      f.room = room;
      simulation s(f);
      s.take(0, 1); // slot 0: the search begins behind it
      s.want(ranks - 1, s.total - 2);
      s.drain(true);
      EXPECT_EQ(s.last_first, 1) << ranks << " ranks, room for " << room;
      if (ranks > 1) {
        EXPECT_GT(s.sum().rounds, s.total / ranks / room - 2);
      }
      s.want(0, 2);
      s.drain(true);
      EXPECT_EQ(s.last_result, taking::none);
    }
  }
}

TEST(negotiate, more_than_the_area_is_refused_at_once) {
  simulation s(of(2, iso::spread::cyclic));
  s.want(0, s.total + 1);
  EXPECT_EQ(s.last_result, taking::none);
  s.drain();
  EXPECT_EQ(all_of(s.sum().sent), 0);
}

TEST(negotiate, exhausted_then_given_back) {
  for (const iso::spread kind : {iso::spread::partitioned, iso::spread::cyclic, iso::spread::block_cyclic}) {
    simulation s(of(5, kind));
    take_everything(s);
    for (int r = 0; r < 5; ++r) {
      s.want(r, 1);
      s.drain(true);
      EXPECT_EQ(s.last_result, taking::none);
    }
    s.give_all();
    s.want(4, s.total);
    s.drain(true);
    EXPECT_EQ(s.last_result, taking::ok);
    s.give_all();
    for (int r = 0; r < 5; ++r) {
      s.want(r, 30);
      s.drain(true);
      EXPECT_EQ(s.last_result, taking::ok);
    }
  }
}

TEST(negotiate, all_at_once) {
  for (const iso::spread kind : {iso::spread::partitioned, iso::spread::cyclic, iso::spread::block_cyclic}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      shape f = of(8, kind);
      f.seed = seed;
      simulation s(f);
      for (int i = 0; i < 3; ++i) {
        for (int r = 0; r < 8; ++r)
          s.want(r, 20);
      }
      s.drain(true);
      EXPECT_EQ(s.sum().purchases, 24);
    }
  }
}

// The settle to rank 2 is late: the next initiator's gather waits for it, and so does rank 2's own grant.
TEST(negotiate, a_gather_that_overtakes_a_settle_waits) {
  simulation s(of(3, iso::spread::cyclic));
  s.want(0, 3); // [0, 3)
  s.want(1, 3);
  for (const auto &[from, to] :
       {std::pair{0, 1}, {0, 2}, {1, 0}, {1, 0}, {2, 0}}) // gathers; enter and list; list
    s.deliver(from, to);
  ASSERT_EQ(s.last_first, 0);
  s.deliver(0, 1); // settle
  s.deliver(0, 1); // grant
  ASSERT_TRUE(s.pair(1, 2).front().is(topic::gather));
  s.deliver(1, 2);
  EXPECT_TRUE(s.pair(2, 1).empty()); // it answers when it has given slot 2 up
  EXPECT_EQ(s.at(2).buyer.count().postponed, 1);
  s.check();
  s.deliver(0, 2);
  EXPECT_EQ(s.pair(2, 1).size(), 1U);
  s.drain(true);
  EXPECT_EQ(s.last_first, 3);
}

// What was bought comes to its former owner, in a thread's hands, before the message that says that it was bought. The
// owner's map shows it still, and its memory is in the cache.
TEST(negotiate, a_thread_that_overtakes_a_settle_keeps_its_memory) {
  simulation s(of(3, iso::spread::cyclic));
  s.take(2, 1);
  s.give(2, 0, 1); // slot 2
  s.want(0, 3);
  for (const auto &[from, to] : {std::pair{0, 1}, {0, 2}, {1, 0}, {2, 0}}) // gathers, lists
    s.deliver(from, to);
  ASSERT_EQ(s.last_first, 0);
  s.move(0, 1, 0);
  s.deliver(0, 1); // settle
  s.deliver(0, 1);
  s.move(1, 2, 0);
  s.deliver(1, 2);
  s.check();
  ASSERT_TRUE(s.pair(0, 2).front().is(topic::settle));
  s.deliver(0, 2);
  s.drain(true);
  s.give(2, 0, 3);
  s.drain(true);
  EXPECT_EQ(free_slots(s, 2), 63 + 3);
}

// A thaw serves all that the map can serve now, and begins with what it cannot before others freeze it again.
TEST(negotiate, between_two_initiators_a_rank_comes_to_its_turn) {
  simulation s(of(3, iso::spread::cyclic));
  s.want(0, 3);
  s.want(1, 3);
  for (const auto &[from, to] : {std::pair{0, 2}, {0, 1}, {1, 0}, {1, 0}, {2, 0}, {0, 1}, {0, 1}, {1, 2}})
    s.deliver(from, to);
  ASSERT_EQ(s.at(2).buyer.count().postponed, 1); // rank 1's gather
  s.want(2, 4);
  s.want(2, 1);
  s.want(2, 5);
  s.want(2, 1);
  EXPECT_EQ(s.at(2).waiting.size(), 4U);
  s.deliver(0, 2); // settle
  EXPECT_EQ(s.at(2).waiting.size(), 2U);
  EXPECT_TRUE(s.at(2).store.is_frozen());
  EXPECT_TRUE(s.pair(2, 0).back().is(topic::enter));
  EXPECT_TRUE(s.pair(2, 1).back().is(topic::list));
  s.want(2, 6); // behind those that are left
  s.drain(true);
  EXPECT_EQ(s.at(2).buyer.count().system_wide, 3);
}

TEST(negotiate, a_refusal_of_memory_loses_no_slot) {
  shape f = of(2, iso::spread::user); // all is rank 0's, so rank 1 buys from it
  f.spread.owner = [](long, long, int) -> int { return 0; };
  for (const shape &one : {f, of(2, iso::spread::cyclic)}) {
    simulation s(one);
    const slot had = free_slots(s, 0) + free_slots(s, 1);
    os::fail_after(os::fail_kind::commit, 1, true);
    s.want(1, 30);
    s.drain();
    os::fail_never();
    EXPECT_EQ(s.last_result, taking::no_memory);
    EXPECT_EQ(s.last_first, no_slot);
    EXPECT_EQ(s.sum().refused, 1);
    EXPECT_EQ(all_of(s.sum().sent) > 2, one.spread.kind == iso::spread::cyclic);
    EXPECT_EQ(free_slots(s, 0) + free_slots(s, 1), had);
    s.want(1, 30); // they are rank 1's
    EXPECT_EQ(s.last_result, taking::ok);
    s.drain();
  }
}

} // namespace
