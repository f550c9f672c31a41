// By chance: threads take, give, move, buy and regroup while messages arrive in any order that MPI allows. At each
// moment each slot has one owner, and when all is quiet nobody waits.
#include "../support/size.hpp"
#include "simulation.hpp"

namespace {

using namespace nth::test;

struct chances { // of each action, in a thousand; the rest: a message arrives
  std::size_t take, give, move, regroup;
};

void act(simulation &s, const chances &c, slot longest) {
  const int r = s.any_rank();
  node &n = s.at(r);
  std::size_t dice = s.below(1000);
  const auto is = [&dice](std::size_t chance) {
    const bool yes = dice < chance;
    dice -= yes ? 0 : chance;
    return yes;
  };
  if (is(c.take)) {
    if (n.waiting.size() < 3)
      s.take(r, 1 + static_cast<slot>(s.below(static_cast<std::size_t>(longest))));
  } else if (is(c.give)) {
    if (!n.taken.empty())
      s.give(r, s.below(n.taken.size()),
             1 + static_cast<slot>(s.below(2 * static_cast<std::size_t>(longest))));
  } else if (is(c.move)) {
    if (!n.taken.empty())
      s.move(r, s.any_rank(), s.below(n.taken.size()));
  } else if (is(c.regroup)) {
    s.regroup(r);
  } else {
    s.deliver_any();
  }
}

// In a quiet moment one purchase more: it fails if and only if there is no such series.
void try_quietly(simulation &s, slot count) {
  const slot lowest = s.lowest(count);
  const long system_wide = s.sum().system_wide;
  s.want(s.any_rank(), count);
  s.drain();
  ASSERT_EQ(s.last_result, lowest == no_slot ? taking::none : taking::ok) << count << " slots";
  if (s.sum().system_wide > system_wide) {
    ASSERT_EQ(s.last_first, lowest); // first fit
  }
}

struct form {
  const char *name;
  iso::spread kind;
  slot series;
};

class by_chance : public testing::TestWithParam<form> {
protected:
  static shape of(int ranks, slot prebuy, std::uint32_t room, std::uint64_t seed) {
    shape f;
    f.ranks = ranks;
    f.spread.kind = GetParam().kind;
    f.spread.series = GetParam().series;
    f.prebuy = prebuy;
    f.room = room;
    f.seed = seed;
    return f;
  }
};

// Small, and looked at after every action.
TEST_P(by_chance, each_slot_has_one_owner_after_each_action) {
  const long steps = pick_size(500, 4000, 50'000);
  for (int ranks = 1; ranks <= 8; ++ranks) {
    for (const std::uint32_t room : {1U, 4U, 0U}) {
      simulation s(of(ranks, ranks % 3 * 4, room, static_cast<std::uint64_t>(ranks) * 16 + room));
      for (long i = 0; i < steps; ++i) {
        act(s, {.take = 120, .give = 60, .move = 40, .regroup = 4}, 40);
        s.check();
        if (HasFatalFailure())
          return;
      }
      s.drain(true);
      if (HasFatalFailure())
        return;
      for (const slot count : {1, 5, 17, 64, 100}) {
        try_quietly(s, count);
        if (HasFatalFailure())
          return;
      }
    }
  }
}

// Many negotiations of the whole system, and messages that overtake one another among them.
TEST_P(by_chance, many_negotiations) {
  const long wanted = pick_size(300, 10'000, 200'000);
  simulation s(of(8, 2, 0, 7));
  for (long i = 1; i % 1024 != 0 || s.sum().entries < wanted; ++i) {
    act(s, {.take = 150, .give = 100, .move = 40, .regroup = 1}, 60);
    if (i % 64 == 0)
      s.check();
    if (i % 8192 == 0) {
      s.drain();
      try_quietly(s, 1 + static_cast<slot>(s.below(80)));
    }
    if (HasFatalFailure())
      return;
  }
  s.drain();
  const negotiation_numbers all = s.sum();
  EXPECT_GT(all.postponed, wanted / 100);
  EXPECT_GT(all.regroupings, 0);
  EXPECT_GT(all.system_wide, wanted / 4);
  RecordProperty("entries", std::to_string(all.entries));
  RecordProperty("postponed", std::to_string(all.postponed));
  s.give_all();
  s.want(0, s.total);
  s.drain();
  EXPECT_EQ(s.last_result, taking::ok);
}

INSTANTIATE_TEST_SUITE_P(spreads, by_chance,
                         testing::Values(form{"partitioned", iso::spread::partitioned, 1},
                                         form{"block_cyclic", iso::spread::block_cyclic, 16},
                                         form{"cyclic", iso::spread::cyclic, 1}),
                         [](const testing::TestParamInfo<form> &p) { return p.param.name; });

} // namespace
