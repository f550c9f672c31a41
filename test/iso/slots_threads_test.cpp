// Kernel threads that take and give at once, while another freezes, sells and buys back.
#include "../support/watchdog.hpp"
#include "slot_stores.hpp"

#include <atomic>
#include <random>
#include <thread>

namespace {

using namespace nth::test;

constexpr slot slots = 400;

class threads : public testing::Test {
protected:
  // Nobody else has what was taken: its owner's number stands in it as long as it is had.
  void enter(slot s, int who) {
    const int before = owners[static_cast<std::size_t>(s)].exchange(who, std::memory_order_relaxed);
    if (before != 0)
      wrong.fetch_add(1, std::memory_order_relaxed);
    write_marks(store, s, static_cast<std::uint64_t>(who));
  }
  void leave(slot s, int who) {
    if (owners[static_cast<std::size_t>(s)].exchange(0, std::memory_order_relaxed) != who ||
        !has_marks(store, s, static_cast<std::uint64_t>(who)))
      wrong.fetch_add(1, std::memory_order_relaxed);
  }

  void take_and_give(int who, long rounds, slot most) {
    std::mt19937_64 chance(static_cast<std::uint64_t>(who));
    std::vector<slot_range> held;
    for (long i = 0; i < rounds; ++i) {
      if (held.size() < 20 && chance() % 2 == 0) {
        slot_range r{no_slot, static_cast<slot>(1 + chance() % static_cast<std::uint64_t>(most))};
        const taking got = store.take(r.count, r.first);
        if (got == taking::no_memory)
          wrong.fetch_add(1, std::memory_order_relaxed);
        if (got != taking::ok)
          continue;
        for (slot s = r.first; s < r.end(); ++s)
          enter(s, who);
        held.push_back(r);
      } else if (!held.empty()) {
        const slot_range r = held[chance() % held.size()];
        std::erase_if(held, [&](const slot_range &one) { return one.first == r.first; });
        for (slot s = r.first; s < r.end(); ++s)
          leave(s, who);
        store.give(r.first, r.count);
      }
    }
    for (const slot_range &r : held) {
      for (slot s = r.first; s < r.end(); ++s)
        leave(s, who);
      store.give(r.first, r.count);
    }
  }

  void trade(const std::atomic<bool> &stop) {
    std::mt19937_64 chance(99);
    while (!stop.load(std::memory_order_relaxed)) {
      for (int i = 0; i < 50; ++i) // the others have their turn: frozen, there is nothing to be had
        std::this_thread::yield();
      const slot_range sold = store.sell(static_cast<slot>(1 + chance() % 4), 3);
      for (slot s = sold.first; s < sold.end(); ++s)
        enter_traded(s);
      store.freeze();
      slot_range runs[8];
      slot covered = 0;
      const std::size_t n = store.list(0, runs, 8, covered);
      if (n > 0) {
        const slot_range lost = runs[chance() % n];
        store.remove(lost);
        for (slot s = lost.first; s < lost.end(); ++s)
          enter_traded(s);
        for (slot s = lost.first; s < lost.end(); ++s)
          owners[static_cast<std::size_t>(s)].store(0, std::memory_order_relaxed);
        store.add(lost);
      }
      store.thaw();
      if (sold.count != 0) {
        for (slot s = sold.first; s < sold.end(); ++s)
          owners[static_cast<std::size_t>(s)].store(0, std::memory_order_relaxed);
        store.add(sold);
      }
    }
  }
  void enter_traded(slot s) {
    if (owners[static_cast<std::size_t>(s)].exchange(-1, std::memory_order_relaxed) != 0)
      wrong.fetch_add(1, std::memory_order_relaxed);
  }

  void run(slot cache, slot most, bool trading) {
    slot_setting s;
    s.bytes = static_cast<std::size_t>(slots) << 16;
    s.cache = cache;
    ASSERT_TRUE(store.open(s));
    std::atomic<bool> stop = false;
    std::vector<std::thread> some;
    for (int who = 1; who <= 4; ++who)
      some.emplace_back([&, who] { take_and_give(who, pick_size(2000, 20'000, 500'000), most); });
    std::thread trader;
    if (trading)
      trader = std::thread([&] { this->trade(stop); });
    for (auto &one : some)
      one.join();
    stop.store(true);
    if (trading)
      trader.join();
    EXPECT_EQ(wrong.load(), 0);
    EXPECT_EQ(store.owned(), slots);
    EXPECT_EQ(store.count().taken, 0);
    EXPECT_LE(store.count().mapped, cache);
    slot first = no_slot;
    EXPECT_EQ(store.take(slots, first), taking::ok) << "all came back";
    store.give(0, slots);
    store.close();
  }

  const watchdog guard{60};
  slot_store store;
  std::vector<std::atomic<int>> owners = std::vector<std::atomic<int>>(slots);
  std::atomic<long> wrong{0};
};

TEST_F(threads, take_and_give_single_slots) { run(16, 1, false); }
TEST_F(threads, take_and_give_series) { run(16, 8, false); }
TEST_F(threads, while_one_trades) { run(16, 8, true); }
TEST_F(threads, while_one_trades_without_a_cache) { run(0, 4, true); }

} // namespace
