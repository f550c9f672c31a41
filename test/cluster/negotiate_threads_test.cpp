// Kernel threads take and give slots of each rank while one negotiates: what a thread has is nobody else's.
#include "../support/size.hpp"
#include "simulation.hpp"

#include <atomic>
#include <thread>

namespace {

using namespace nth::test;

// Takes, writes, looks again, gives, until told to stop; false: someone else wrote there.
bool use(iso::slot_store &store, int rank, std::uint64_t seed, const std::atomic<bool> &stop) {
  std::mt19937_64 random(seed);
  bool own = true;
  while (!stop.load(std::memory_order_relaxed)) {
    const slot count = 1 + static_cast<slot>(random() % 3);
    slot first = no_slot;
    if (store.take(count, first) != taking::ok) {
      std::this_thread::yield();
      continue;
    }
    for (slot s = first; s < first + count; ++s)
      *reinterpret_cast<volatile slot *>(store.address_of(s)) = -s * 64 - rank;
    for (slot s = first; s < first + count; ++s)
      own = own && *reinterpret_cast<volatile slot *>(store.address_of(s)) == -s * 64 - rank;
    store.give(first, count);
  }
  return own;
}

TEST(negotiate, while_threads_take_and_give) {
  const long steps = pick_size(5'000, 10'000, 1'000'000);
  shape f;
  f.ranks = 3;
  f.spread.kind = iso::spread::cyclic;
  f.prebuy = 2;
  simulation s(f);
  std::atomic<bool> stop{false};
  std::atomic<bool> right{true};
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(f.ranks));
  for (int r = 0; r < f.ranks; ++r) {
    threads.emplace_back([&s, &stop, &right, r] {
      if (!use(s.at(r).store, r, static_cast<std::uint64_t>(r) + 1, stop))
        right.store(false);
    });
  }
  for (long i = 0; i < steps; ++i) {
    const int r = s.any_rank();
    node &n = s.at(r);
    const std::size_t dice = s.below(100);
    if (dice < 15 && n.waiting.size() < 2)
      s.want(r, 2 + static_cast<slot>(s.below(10)));
    else if (dice < 27 && !n.taken.empty())
      s.give(r, 0, s.total);
    else if (dice < 32 && !n.taken.empty())
      s.move(r, s.any_rank(), 0);
    else if (dice == 32 && i % 16 == 0)
      s.regroup(r);
    else
      s.deliver_any();
  }
  while (s.deliver_any()) {
  }
  stop.store(true);
  for (std::thread &t : threads)
    t.join();
  EXPECT_TRUE(right.load());
  s.drain();
  EXPECT_GT(s.sum().system_wide, steps / 100);
  s.give_all();
  s.want(0, s.total);
  s.drain();
  EXPECT_EQ(s.last_result, taking::ok);
}

} // namespace
