// Several ranks over one area, by chance against a model: each slot has one owner, and its memory is left alone.
#include "slot_stores.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

namespace {

using namespace nth::test;

struct series {
  int rank; // where its thread is
  slot_range slots;
  std::uint64_t mark;
};

class ranks_by_chance : public testing::Test {
protected:
  static constexpr int in_use = 1000;
  static constexpr int waits = 100; // for rank r to thaw: waits + r

  slot upto(slot n) { return std::uniform_int_distribution<slot>(0, n)(chance); }
  int rank() { return static_cast<int>(upto(ranks - 1)); }
  int &owner(slot s) { return owners[static_cast<std::size_t>(s)]; }
  void own(slot_range r, int who) { std::fill_n(owners.begin() + r.first, r.count, who); }
  bool frozen(int r) { return (*all)[r].is_frozen(); }

  // The lowest series of at least `count` slots of a rank.
  slot lowest(int r, slot count) {
    slot run = 0;
    for (slot s = 0; s < slots; ++s) {
      run = owner(s) == r ? run + 1 : 0;
      if (run == count)
        return s - count + 1;
    }
    return no_slot;
  }

  void begin(slot count, int ranks_wanted, distribution spread, slot cache_wanted) {
    slots = count;
    ranks = ranks_wanted;
    cache = cache_wanted;
    all = std::make_unique<slot_stores>(slots, ranks, spread, cache);
    ASSERT_TRUE(all->opened);
    owners.resize(static_cast<std::size_t>(slots));
    for (slot s = 0; s < slots; ++s)
      owner(s) = spread.owner_of(s, slots, ranks);
    live.clear();
  }

  void take(int r, slot count) {
    slot first = no_slot;
    const taking got = (*all)[r].take(count, first);
    const slot expected = lowest(r, count);
    if (frozen(r) && count <= slots) {
      ASSERT_EQ(got, taking::frozen);
    } else if (expected == no_slot) {
      ASSERT_EQ(got, taking::none);
    } else {
      ASSERT_EQ(got, taking::ok);
      if (count > 1) {
        ASSERT_EQ(first, expected);
      }
      for (slot s = first; s < first + count; ++s)
        ASSERT_EQ(owner(s), r);
      use({r, {first, count}, 0});
    }
  }

  // From now on it has a thread's marks.
  void use(series what) {
    what.mark = chance();
    own(what.slots, in_use);
    for (slot s = what.slots.first; s < what.slots.end(); ++s)
      write_marks((*all)[what.rank], s, what.mark);
    live.push_back(what);
  }
  void expect_marks(const series &what) {
    for (slot s = what.slots.first; s < what.slots.end(); ++s)
      ASSERT_TRUE(has_marks((*all)[what.rank], s, what.mark)) << s;
  }

  // All of it, or its end.
  void give(series &what) {
    ASSERT_NO_FATAL_FAILURE(expect_marks(what));
    const slot count = upto(1) == 0 ? what.slots.count : 1 + upto(what.slots.count - 1);
    const slot_range back{what.slots.end() - count, count};
    (*all)[what.rank].give(back.first, count);
    own(back, frozen(what.rank) ? waits + what.rank : what.rank);
    what.slots.count -= count;
  }

  void extend(series &what) {
    const slot more = 1 + upto(3);
    bool expected = !frozen(what.rank) && what.slots.end() + more <= slots;
    for (slot s = what.slots.end(); expected && s < what.slots.end() + more; ++s)
      expected = owner(s) == what.rank;
    ASSERT_EQ((*all)[what.rank].extend(what.slots.first, what.slots.count, more), expected);
    if (expected) {
      own({what.slots.end(), more}, in_use);
      for (slot s = what.slots.end(); s < what.slots.end() + more; ++s)
        write_marks((*all)[what.rank], s, what.mark);
      what.slots.count += more;
    }
  }

  void move(series &what) {
    ASSERT_NO_FATAL_FAILURE(expect_marks(what));
    const int to = rank();
    (*all)[what.rank].discard(what.slots.first, what.slots.count);
    ASSERT_TRUE((*all)[to].commit(what.slots.first, what.slots.count));
    what.rank = to;
    for (slot s = what.slots.first; s < what.slots.end(); ++s)
      write_marks((*all)[to], s, what.mark);
  }

  void sell(int from, int to) {
    const slot count = 1 + upto(4), extra = upto(10);
    const slot expected = lowest(from, count);
    const slot had = (*all)[from].owned();
    const slot_range sold = (*all)[from].sell(count, extra);
    if (frozen(from) || expected == no_slot) {
      ASSERT_EQ(sold.count, 0);
      return;
    }
    ASSERT_EQ(sold.first, expected);
    ASSERT_GE(sold.count, count);
    ASSERT_LE(sold.count, std::max(count, std::min(count + extra, had / 2)));
    for (slot s = sold.first; s < sold.end(); ++s)
      ASSERT_EQ(owner(s), from);
    own(sold, frozen(to) ? waits + to : to);
    (*all)[to].add(sold);
  }

  void thaw(int r) {
    (*all)[r].thaw();
    std::replace(owners.begin(), owners.end(), waits + r, r);
  }

  // As negotiation does: all frozen, one's slots become another's, or a window is dealt anew.
  void negotiate() {
    for (int r = 0; r < ranks; ++r)
      (*all)[r].freeze();
    if (!live.empty() && upto(1) == 0) {
      ASSERT_NO_FATAL_FAILURE(give(live[static_cast<std::size_t>(upto(static_cast<slot>(live.size()) - 1))]));
    }
    if (upto(1) == 0) {
      const int from = rank(), to = rank();
      const auto runs = all_runs((*all)[from], 3);
      if (from != to && !runs.empty()) {
        const slot_range bought = runs[static_cast<std::size_t>(upto(static_cast<slot>(runs.size()) - 1))];
        (*all)[from].remove(bought);
        (*all)[to].add(bought);
        own(bought, to);
      }
    } else {
      slot_range window{upto(slots - 1), 0};
      window.count = 1 + upto(slots - window.first - 1);
      if (upto(2) == 0)
        window = {0, slots};
      deal(window);
    }
    for (int r = 0; r < ranks; ++r)
      thaw(r);
  }
  void deal(slot_range window) {
    for (slot s = window.first; s < window.end();) {
      const int to = rank();
      for (const slot end = std::min(window.end(), s + 1 + upto(40)); s < end; ++s)
        if (owner(s) < ranks)
          owner(s) = to;
    }
    for (int r = 0; r < ranks; ++r) {
      std::vector<slot_range> now;
      for (slot s = window.first; s < window.end(); ++s) {
        if (owner(s) != r)
          continue;
        if (!now.empty() && now.back().end() == s && upto(20) != 0) // some series in two pieces
          ++now.back().count;
        else
          now.push_back({s, 1});
      }
      (*all)[r].replace(window, now.data(), now.size());
    }
  }

  void step() {
    series *const some =
        live.empty() ? nullptr : &live[static_cast<std::size_t>(upto(static_cast<slot>(live.size()) - 1))];
    const int r = rank();
    switch (upto(15)) {
    case 0:
      ASSERT_NO_FATAL_FAILURE(sell(r, rank()));
      break;
    case 1:
      (*all)[r].freeze();
      break;
    case 2:
    case 3:
      thaw(r);
      break;
    case 4:
      if (upto(9) == 0) {
        ASSERT_NO_FATAL_FAILURE(negotiate());
      }
      break;
    case 5:
      if (some != nullptr) {
        ASSERT_NO_FATAL_FAILURE(extend(*some));
      }
      break;
    case 6:
      if (some != nullptr) {
        ASSERT_NO_FATAL_FAILURE(move(*some));
      }
      break;
    case 7:
    case 8:
    case 9:
    case 10:
      if (some != nullptr) {
        ASSERT_NO_FATAL_FAILURE(give(*some));
      }
      break;
    default:
      ASSERT_NO_FATAL_FAILURE(take(r, upto(1) == 0 ? 1 : 1 + upto(upto(3) == 0 ? slots / 4 : 6)));
    }
    std::erase_if(live, [](const series &s) { return s.slots.count == 0; });
  }

  void check() {
    bool any_frozen = false;
    slot taken = 0, mapped = 0;
    for (int r = 0; r < ranks; ++r) {
      slot_store &store = (*all)[r];
      std::vector<slot_range> expected;
      slot longest = 0;
      for (slot s = 0; s < slots; ++s) {
        if (owner(s) != r)
          continue;
        if (expected.empty() || expected.back().end() != s)
          expected.push_back({s, 0});
        longest = std::max(longest, ++expected.back().count);
      }
      const auto runs = all_runs(store, 5);
      ASSERT_EQ(runs.size(), expected.size());
      for (std::size_t i = 0; i < runs.size(); ++i) {
        ASSERT_EQ(runs[i].first, expected[i].first);
        ASSERT_EQ(runs[i].count, expected[i].count);
      }
      ASSERT_GE(store.longest(), longest);
      ASSERT_EQ(store.owned(), std::count(owners.begin(), owners.end(), r) +
                                   std::count(owners.begin(), owners.end(), waits + r));
      const slot_store::numbers n = store.count();
      ASSERT_LE(n.mapped, cache);
      ASSERT_GE(n.most_taken, n.taken);
      ASSERT_LE(n.committed, store.bytes());
      taken += n.taken;
      mapped += n.mapped;
      any_frozen = any_frozen || frozen(r);
    }
    ASSERT_EQ(taken, std::count(owners.begin(), owners.end(), in_use));
    if (!any_frozen && known) { // two pages of each slot in use or kept
      ASSERT_LE(resident_pages((*all)[0].base(), all->area_bytes), 2 * (taken + mapped));
    }
  }

  void run(slot count, int ranks_wanted, distribution spread, slot cache_wanted, long steps) {
    SCOPED_TRACE(testing::Message() << count << " slots, " << ranks_wanted << " ranks, kind "
                                    << static_cast<int>(spread.kind) << ", cache " << cache_wanted);
    ASSERT_NO_FATAL_FAILURE(begin(count, ranks_wanted, spread, cache_wanted));
    for (long i = 0; i < steps; ++i) {
      ASSERT_NO_FATAL_FAILURE(step()) << i;
      if (i % 16 == 0) {
        ASSERT_NO_FATAL_FAILURE(check()) << i;
      }
    }
    for (const series &what : live) {
      ASSERT_NO_FATAL_FAILURE(expect_marks(what));
      (*all)[what.rank].give(what.slots.first, what.slots.count);
      own(what.slots, frozen(what.rank) ? waits + what.rank : what.rank);
    }
    for (int r = 0; r < ranks; ++r)
      thaw(r);
    check();
    slot sum = 0;
    for (int r = 0; r < ranks; ++r)
      sum += (*all)[r].owned();
    ASSERT_EQ(sum, slots);
    all.reset();
  }

  std::mt19937_64 chance{20261122};
  std::unique_ptr<slot_stores> all;
  std::vector<int> owners;
  std::vector<series> live;
  slot slots{0};
  int ranks{0};
  slot cache{0};
  const bool known = residency_is_known() && !under_tsan;
};

TEST_F(ranks_by_chance, partitioned) {
  const long steps = pick_size(1000, 10'000, 200'000);
  for (const slot kept : {0, 1, 8, 256}) {
    ASSERT_NO_FATAL_FAILURE(run(300, 1, {}, kept, steps));
    ASSERT_NO_FATAL_FAILURE(run(500, 3, {}, kept, steps));
  }
}

TEST_F(ranks_by_chance, cyclic) {
  const long steps = pick_size(1000, 10'000, 200'000);
  ASSERT_NO_FATAL_FAILURE(run(500, 3, {spread::cyclic, 1, nullptr}, 8, steps));
  ASSERT_NO_FATAL_FAILURE(run(130, 4, {spread::cyclic, 1, nullptr}, 3, steps));
}

TEST_F(ranks_by_chance, block_cyclic) {
  ASSERT_NO_FATAL_FAILURE(
      run(500, 3, {spread::block_cyclic, 16, nullptr}, 8, pick_size(1000, 10'000, 200'000)));
}

TEST_F(ranks_by_chance, the_users) {
  const distribution d{spread::user, 1, [](long s, long, int n) { return static_cast<int>(s * s / 50 % n); }};
  ASSERT_NO_FATAL_FAILURE(run(500, 3, d, 8, pick_size(1000, 10'000, 200'000)));
}

// Over several windows of 64 MiB, the last one shorter.
TEST_F(ranks_by_chance, more_than_a_window) {
  ASSERT_NO_FATAL_FAILURE(
      run(3 * 1024 + 100, 2, {spread::block_cyclic, 300, nullptr}, 64, pick_size(300, 2000, 50'000)));
}

TEST_F(ranks_by_chance, single_slots) {
  ASSERT_NO_FATAL_FAILURE(run(1, 1, {}, 1, 500));
  ASSERT_NO_FATAL_FAILURE(run(2, 3, {}, 1, 500)); // one rank begins with nothing
}

} // namespace
