// Free lists in three stages, by chance: how much may lie idle, and that nothing is lost or given twice, step
// by step and with several kernel threads at once.
#include "../support/size.hpp"
#include "../support/watchdog.hpp"
#include "free_list_objects.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <thread>

namespace {

using namespace nth::test;

// ---- Random sequences ----------------------------------------------------------------------------------------

// A worker as the scheduler has it: takes from its list, its pools, the kernel; gives to its list, and what
// is another node's to that node.
class a_worker {
public:
  a_worker(pools_type &shared, int of_node) : pools(shared), node(of_node) {}

  object *take() {
    if (object *o = list.pop())
      return o;
    const chain<object> c = pools.take(node);
    if (c.head == nullptr)
      return nullptr;
    list.fill(c);
    return list.pop();
  }
  void give(object *o) {
    if (o->node != node) {
      chain<object> one;
      one.push(o);
      return pools.put(one, o->node);
    }
    while (!list.push(o, pools.half()))
      pools.put(list.take_reserve(), node);
  }
  void rest() { // as before it sleeps
    pools.put(list.take_reserve(), node);
    pools.put(list.take_current(), node);
  }
  long count() const { return list.count(); }
  int on() const { return node; }

private:
  pools_type &pools;
  int node;
  local_list<object> list;
};

struct shape {
  int nodes;
  int workers;
  thresholds bounds;
};
constexpr shape shapes[] = {{1, 1, {2, 0, 0}},     {1, 4, {2, 0, 0}},      {1, 4, {64, 256, 1024}},
                            {2, 3, {7, 0, 40}},    {2, 8, {16, 64, 0}},    {3, 5, {10, 25, 90}},
                            {4, 16, {32, 40, 41}}, {4, 4, {3, 1000, 1000}}};

TEST(free_lists_by_chance, the_bound_holds_at_every_step_and_nothing_is_lost) {
  const long steps = pick_size(5'000, 20'000, 400'000);
  for (const shape &s : shapes) {
    for (std::uint32_t seed = 1; seed <= 3; ++seed) {
      SCOPED_TRACE(testing::Message() << s.nodes << " nodes, " << s.workers << " workers, local "
                                      << s.bounds.local << ", seed " << seed);
      std::mt19937 random(seed);
      kernel.clear();
      pools_type pools;
      constexpr long count = 3000;
      store all(count);
      long made = 0;
      pools.open(s.nodes, s.workers, s.bounds, release, nullptr);
      std::vector<a_worker> workers;
      for (int i = 0; i < s.workers; ++i)
        workers.emplace_back(pools, i % s.nodes);
      std::vector<object *> in_use;
      const long bound = s.workers * s.bounds.local + s.nodes * s.bounds.node + s.bounds.global;
      int favour = 50; // of a hundred steps, so many take; bursts of either kind
      for (long i = 0; i < steps; ++i) {
        if (i % 500 == 0)
          favour = static_cast<int>(random() % 101);
        a_worker &w = workers[random() % workers.size()];
        if (static_cast<int>(random() % 100) < favour) {
          object *o = w.take();
          if (o == nullptr && !kernel.empty()) {
            o = kernel.back();
            kernel.pop_back();
          }
          if (o == nullptr && made < count) {
            o = all.make(w.on());
            ++made;
          }
          if (o == nullptr)
            continue;
          ASSERT_EQ(o->users.fetch_add(1), 0) << "given twice";
          in_use.push_back(o);
        } else if (!in_use.empty()) {
          std::swap(in_use[random() % in_use.size()], in_use.back());
          ASSERT_EQ(in_use.back()->users.fetch_sub(1), 1);
          w.give(in_use.back());
          in_use.pop_back();
        } else if (random() % 8 == 0) {
          w.rest();
        }
        long at_workers = 0;
        for (const a_worker &one : workers) {
          ASSERT_LE(one.count(), s.bounds.local);
          at_workers += one.count();
        }
        for (int n = 0; n < s.nodes; ++n)
          ASSERT_LE(pools.at(n), s.bounds.node);
        ASSERT_LE(pools.in_global(), s.bounds.global);
        const long idle = at_workers + pools.at_nodes() + pools.in_global();
        ASSERT_LE(idle, bound);
        ASSERT_EQ(idle + static_cast<long>(in_use.size() + kernel.size()), made);
      }
    }
  }
}

// ---- Several kernel threads ----------------------------------------------------------------------------------

// Objects pass from hand to hand by mailboxes, so that they end on other workers and nodes than where they
// were taken.
struct mailbox {
  std::mutex lock;
  std::vector<object *> letters;
};

TEST(free_lists_by_chance, of_several_kernel_threads_give_each_object_to_one_of_them) {
  const watchdog guard(120);
  const long steps = pick_size(5'000, 100'000, 2'000'000);
  constexpr int threads = 4;
  for (const shape &s : {shape{1, threads, {2, 0, 0}}, shape{2, threads, {8, 20, 40}},
                         shape{2, threads, {16, 0, 64}}, shape{4, threads, {32, 64, 0}}}) {
    SCOPED_TRACE(testing::Message() << s.nodes << " nodes, local " << s.bounds.local);
    kernel.clear();
    pools_type pools;
    constexpr long count = 4000;
    store all(count);
    std::mutex store_lock;
    long made = 0;
    pools.open(s.nodes, s.workers, s.bounds, release, cool);
    std::vector<a_worker> workers;
    for (int i = 0; i < threads; ++i)
      workers.emplace_back(pools, i % s.nodes);
    mailbox boxes[threads];
    std::atomic<long> wrong = 0;
    std::atomic<int> running = threads;

    const auto from_kernel = [&](int node) -> object * {
      {
        const std::lock_guard scope(kernel_lock);
        if (!kernel.empty()) {
          object *o = kernel.back();
          kernel.pop_back();
          return o;
        }
      }
      const std::lock_guard scope(store_lock);
      return made == count ? nullptr : (++made, all.make(node));
    };
    const auto work = [&](int self) {
      std::mt19937 random(static_cast<std::uint32_t>(self) + 17);
      a_worker &w = workers[static_cast<std::size_t>(self)];
      std::vector<object *> mine;
      for (long i = 0; i < steps; ++i) {
        object *o = random() % 2 == 0 ? w.take() : nullptr;
        if (o == nullptr && random() % 2 == 0)
          o = from_kernel(w.on());
        if (o != nullptr) {
          wrong += o->users.fetch_add(1, std::memory_order_relaxed) != 0;
          ++o->payload;
          mailbox &to = boxes[random() % threads];
          const std::lock_guard scope(to.lock);
          to.letters.push_back(o);
        }
        if (mine.empty()) {
          const std::lock_guard scope(boxes[self].lock);
          mine.swap(boxes[self].letters);
        }
        if (!mine.empty()) {
          o = mine.back();
          mine.pop_back();
          ++o->payload;
          wrong += o->users.fetch_sub(1, std::memory_order_relaxed) != 1;
          w.give(o);
        }
        wrong += w.count() > s.bounds.local;
        if (i % 1000 == 0)
          w.rest();
      }
      for (object *o : mine) {
        o->users.fetch_sub(1, std::memory_order_relaxed);
        w.give(o);
      }
      --running;
    };
    std::vector<std::thread> running_threads;
    for (int i = 0; i < threads; ++i)
      running_threads.emplace_back(work, i);
    while (running != 0) { // the pools' bounds hold whenever one looks
      for (int n = 0; n < s.nodes; ++n)
        wrong += pools.at(n) > s.bounds.node;
      wrong += pools.in_global() > s.bounds.global;
      std::this_thread::yield();
    }
    for (std::thread &one : running_threads)
      one.join();
    EXPECT_EQ(wrong, 0);

    std::set<object *> seen(kernel.begin(), kernel.end());
    auto found = static_cast<long>(kernel.size());
    for (const mailbox &box : boxes) {
      seen.insert(box.letters.begin(), box.letters.end());
      found += static_cast<long>(box.letters.size());
    }
    for (a_worker &w : workers) {
      while (object *o = w.take()) {
        seen.insert(o);
        ++found;
      }
    }
    EXPECT_EQ(found, made) << "each is somewhere";
    EXPECT_EQ(static_cast<long>(seen.size()), made) << "and in one place";
  }
}

} // namespace
