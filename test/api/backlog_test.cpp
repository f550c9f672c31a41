// The bound on waiting threads (NTH_BACKLOG): what it bounds, who makes way, and who never does.
#include "../support/runtime.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <tuple>
#include <vector>

using namespace nth::test;

namespace {

constexpr long block = 64; // threads that queues handle as one
using put_call = void (*)(int, nth_desc *);

nth_options bounded(long workers, nth_policy policy, long backlog) {
  nth_options result = options(workers, policy);
  result.stack_size = 16 << 10;
  result.backlog = backlog;
  return result;
}

// ---- Descriptors ----------------------------------------------------------------------------------------

// D of one creator, in descriptors of one home (doc/design.md, section 3, backlog): blocks that wait, here and
// at others, make the backlog. Besides there are, for each other worker, a block above the bound, an outgoing
// window, two windows there, a block in a thief's hand, and one of dead descriptors on their way home, six in
// all, and 6 (P - 1) <= P^2 + 3; here the back window, and the lot that is carved.
long home_bound(long backlog, long workers) {
  constexpr long carved_first = 2048; // before any is used again
  const long blocks = (backlog + block - 1) / block;
  return std::max(carved_first, blocks * block + block * (workers * workers + 3)) + 2 * block;
}
constexpr long outside_lot = 64; // the main thread's home

class empty : public testing::TestWithParam<std::tuple<nth_policy, int, long>> {
protected:
  const watchdog guard{60};
  nth_policy policy() const { return std::get<0>(GetParam()); }
  int workers() const { return std::get<1>(GetParam()); }
  long backlog() const { return std::get<2>(GetParam()); }
};

struct tally {
  std::atomic<long> ended = 0;
  std::vector<char> creator_was_at; // its worker's home is where it takes descriptors from
};

// A creator that puts n threads alternately to all workers and waits for them.
template <class Which>
void create_empty(long n, tally &t, Which which) {
  t.creator_was_at.assign(static_cast<size_t>(kthreads), 0);
  nth_depadd(nth_self(), n + 1);
  for (long i = 0; i < n; ++i) {
    t.creator_was_at[static_cast<size_t>(nth_worker())] = 1;
    nth_to_lrq(which(i), nth_create_ls(
                             +[](std::atomic<long> *ended, long one) {
                               ended->fetch_add(one, std::memory_order_relaxed);
                             },
                             0, nth_self(), 2, &t.ended, 1));
  }
  nth_block();
}

long homes(const tally &t) {
  long n = 0;
  for (const char one : t.creator_was_at)
    n += one;
  return n;
}

TEST_P(empty, descriptors_are_bounded) {
  const long n = pick_size(10'000, 1'000'000, 1'000'000);
  const runtime up(bounded(workers(), policy(), backlog()));
  tally t;
  run([&] { create_empty(n, t, [](long i) { return static_cast<int>(i % kthreads); }); });
  EXPECT_EQ(t.ended, n);
  EXPECT_LE(counters().descriptors, homes(t) * home_bound(backlog(), workers()) + outside_lot);
  // Wherever the creator has been: what other workers keep idle is all that it does not find.
  constexpr long local = 2048; // NTH_DESCRIPTORS_LOCAL
  EXPECT_LE(counters().descriptors, home_bound(backlog(), workers()) + (workers() + 1) * local + outside_lot);
  if (workers() == 1) {
    // The lot that is carved, and that of the main thread.
    EXPECT_LE(counters().descriptors, std::max(2048L, backlog()) + block + outside_lot);
  }
  RecordProperty("descriptors", static_cast<int>(counters().descriptors));
  RecordProperty("homes", static_cast<int>(homes(t)));
}

INSTANTIATE_TEST_SUITE_P(policies, empty,
                         testing::Combine(testing::ValuesIn(all_policies), testing::Values(1, 2, 3),
                                          testing::Values(64L, 8192L)),
                         [](const auto &test) {
                           return name_of(std::get<0>(test.param)) + std::to_string(std::get<1>(test.param)) +
                                  "_" + std::to_string(std::get<2>(test.param));
                         });

// ---- Suspended creators ---------------------------------------------------------------------------------

// A tree whose inner nodes put their children into the queue of the worker they are on.
struct tree_order {
  put_call put;
  long fanout;
  nth_desc *main = nullptr; // successor of all
  std::atomic<long> ended = 0;
};

void node(tree_order *order, long depth) {
  for (long i = 0; depth > 0 && i < order->fanout; ++i)
    order->put(nth_worker(), nth_create_ls(node, 0, order->main, 2, order, depth - 1));
  order->ended.fetch_add(1, std::memory_order_relaxed);
}

long nodes(long fanout, long depth) {
  long sum = 0, row = 1;
  for (long i = 0; i <= depth; ++i, row *= fanout)
    sum += row;
  return sum;
}

class tree : public testing::TestWithParam<std::tuple<bool, long, int, long>> {};

// A suspended creator has up to 64 threads above it, which may all be creators and come to lie beneath it; what
// these make lies above them all. So there may be 64 for each level of the tree: with a million nodes few
// hundred, at each worker, for a stolen block is the first of its worker's queue.
TEST_P(tree, suspends_few_creators) {
  const watchdog guard{60};
  constexpr long few = 600;
  const auto [end, fanout, workers, backlog] = GetParam();
  long depth = 0;
  while (nodes(fanout, depth + 1) <= pick_size(10'000, 1'100'000, 4'000'000))
    ++depth;
  const runtime up(bounded(workers, NTH_POLICY_DSR, backlog));
  tree_order order{end ? nth_to_lrq_end : nth_to_lrq, fanout};
  const long all = nodes(fanout, depth);
  run([&] {
    order.main = nth_self();
    nth_depadd(nth_self(), all); // all but the root, which is the caller, and its own
    node(&order, depth);
    nth_block();
  });
  EXPECT_EQ(order.ended, all);
  EXPECT_LE(counters().stacks, few * workers);
  RecordProperty("stacks", static_cast<int>(counters().stacks));
}

INSTANTIATE_TEST_SUITE_P(shapes, tree,
                         testing::Combine(testing::Bool(), testing::Values(2, 10, 32, 66, 100, 1000),
                                          testing::Values(1, 2), testing::Values(64L, 8192L)));

// ---- Who makes way, and who does not ------------------------------------------------------------------------

class way : public testing::TestWithParam<nth_policy> {
protected:
  const watchdog guard;
  std::atomic<bool> others_ran = false;
  std::function<void()> other = [this] { others_ran = true; };

  // Puts `count` threads that say that they have run: they do so before the caller blocks only if the caller
  // makes way.
  void put_many(put_call put, int which, int count) {
    for (int i = 0; i < count; ++i)
      put(which, create(other, nth_self()));
  }
};
constexpr long low = 256; // a bound
constexpr int far_above = 5 * low;

TEST_P(way, creator_makes_way_for_the_newest) {
  for (const put_call put : {nth_to_lrq, nth_to_lrq_end}) {
    const runtime up(bounded(1, GetParam(), low));
    run([&] {
      std::vector<int> ran;
      struct member {
        std::vector<int> *ran;
        int number;
        void operator()() const { ran->push_back(number); }
      };
      std::vector<member> members;
      for (int i = 0; i < low; ++i)
        members.push_back({&ran, i});
      nth_depadd(nth_self(), low + 1);
      for (member &one : members) {
        EXPECT_TRUE(ran.empty());
        put(0, create(one, nth_self()));
      }
      // The newest block has run, and the caller went on before the next one.
      std::vector<int> expected;
      for (int i = low - 1; i >= low - block; --i)
        expected.push_back(i);
      EXPECT_EQ(ran, expected);
      nth_block();
      EXPECT_EQ(ran.size(), static_cast<size_t>(low));
    });
  }
}

TEST_P(way, no_bound_no_way) {
  const runtime up(bounded(1, GetParam(), 0));
  run([&] {
    nth_depadd(nth_self(), 2 * far_above + 1);
    put_many(nth_to_lrq, 0, far_above);
    put_many(nth_to_lrq_end, 0, far_above);
    EXPECT_FALSE(others_ran);
    nth_block();
  });
}

TEST_P(way, wake_ups_do_not_make_way) {
  const runtime up(bounded(1, GetParam(), low));
  run([&] {
    std::vector<nth_handle_t> sleeping;
    int woken = 0;
    auto sleeper = [&] {
      nth_block();
      ++woken;
    };
    nth_depadd(nth_self(), far_above);
    for (int i = 0; i < far_above; ++i) {
      nth_desc *thread = create(sleeper, nth_self());
      sleeping.push_back(nth_handle(thread));
      nth_to_lrq(0, thread);
      nth_yield();
    }
    for (const nth_handle_t &one : sleeping)
      EXPECT_EQ(nth_unblock(one), NTH_OK);
    EXPECT_EQ(woken, 0);
    nth_depadd(nth_self(), 1);
    nth_block();
    EXPECT_EQ(woken, far_above);
  });
}

// An end that makes more threads ready than the bound lets its caller's worker go on: newest first, all of them.
TEST_P(way, successors_do_not_make_way) {
  const runtime up(bounded(1, GetParam(), block));
  run([&] {
    constexpr int groups = 40;
    int ran = 0, ended = 0;
    auto successor = [&] { ++ran; };
    auto end = [&] {
      EXPECT_EQ(ran, NTH_MAX_SUCCESSORS * ended) << "those of the last one ran in front, one after the other";
      ++ended;
    };
    nth_depadd(nth_self(), groups * NTH_MAX_SUCCESSORS + 1);
    for (int i = 0; i < groups; ++i) {
      std::array<nth_desc *, NTH_MAX_SUCCESSORS> all;
      for (nth_desc *&one : all)
        one = create(successor, nth_self(), 1);
      const long word = reinterpret_cast<long>(&end);
      nth_to_lrq_end(0, nth_create_v(reinterpret_cast<void (*)()>(&call<decltype(end)>), 0,
                                     NTH_MAX_SUCCESSORS, all.data(), 1, &word));
    }
    EXPECT_EQ(ended, 0);
    nth_block();
    EXPECT_EQ(ran, groups * NTH_MAX_SUCCESSORS);
  });
}

// What goes to a worker that has nothing to do, or from outside, suspends nobody.
TEST_P(way, remote_puts_below_the_bound_do_not_make_way) {
  const runtime up(bounded(2, GetParam(), low));
  run([&] {
    std::atomic<bool> occupied = false, release = false;
    auto occupant = [&] {
      occupied = true;
      spin_until([&] { return release.load(); });
    };
    constexpr int sent =
        low - 2 * block; // the own window counts as a block, and so does the one being filled
    nth_depadd(nth_self(), block / 2 + sent + 2);
    const int here = nth_worker();
    nth_to_lrq_end(1 - here, create(occupant, nth_self()));
    spin_until([&] { return occupied.load(); });
    put_many(nth_to_lrq, here, block / 2); // they would run
    put_many(nth_to_lrq, 1 - here, sent);
    EXPECT_FALSE(others_ran);
    EXPECT_EQ(nth_worker(), here);
    release = true;
    nth_block();
  });
}

// The worker that the threads are for takes none: above the bound they join the creator's own queue.
TEST_P(way, puts_to_a_busy_worker_are_bounded) {
  const long n = pick_size(20'000, 200'000, 1'000'000);
  const runtime up(bounded(2, GetParam(), 2048));
  std::atomic<bool> occupied = false;
  tally t;
  auto occupant = [&] {
    occupied = true;
    spin_until([&] { return t.ended == n; });
  };
  run([&] {
    nth_depadd(nth_self(), 3);
    const int busy = 1 - nth_worker();
    nth_to_lrq_end(busy, create(occupant, nth_self()));
    spin_until([&] { return occupied.load(); });
    auto creator = [&] { create_empty(n, t, [&](long) { return busy; }); };
    nth_to_lrq(nth_worker(), create(creator, nth_self()));
    nth_block();
  });
  EXPECT_LE(counters().descriptors, homes(t) * home_bound(2048, 2) + outside_lot + block);
}

TEST_P(way, kernel_threads_outside_are_not_bounded) {
  const runtime up(bounded(1, GetParam(), low));
  std::atomic<bool> occupied = false, release = false;
  std::atomic<int> ended = 0;
  auto occupant = [&] {
    occupied = true;
    spin_until([&] { return release.load(); });
  };
  auto member = [&] { ++ended; };
  nth_desc *self = nth_attach();
  ASSERT_NE(self, nullptr);
  nth_depadd(self, far_above + 2);
  nth_to_lrq(0, create(occupant, self));
  spin_until([&] { return occupied.load(); });
  for (int i = 0; i < far_above; ++i)
    (i % 2 == 0 ? nth_to_lrq : nth_to_lrq_end)(0, create(member, self));
  EXPECT_EQ(ended, 0);
  release = true;
  nth_block();
  EXPECT_EQ(nth_detach(), NTH_OK);
  EXPECT_EQ(ended, far_above);
}

INSTANTIATE_TEST_SUITE_P(policies, way, testing::ValuesIn(all_policies),
                         [](const auto &test) { return name_of(test.param); });

} // namespace
