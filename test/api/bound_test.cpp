// How much memory lies idle when nothing runs: at most workers * local + nodes * node + global descriptors and
// stacks (paper 001, section 1.3), after loads that move them from worker to worker.
#include "../support/invented_machine.hpp"
#include "../support/rest.hpp"
#include "../support/size.hpp"

#include <atomic>
#include <random>
#include <thread>
#include <tuple>
#include <vector>

using namespace nth::test;
namespace detail = nth::detail;

namespace {

struct bounds {
  const char *name;
  detail::thresholds descriptors;
  detail::thresholds stacks;
};
void PrintTo(const bounds &one, std::ostream *out) { *out << one.name; }
constexpr bounds all_bounds[] = {{"default", {2048, 8192, 65536}, {64, 256, 1024}},
                                 {"small", {256, 300, 700}, {8, 10, 20}},
                                 {"none_shared", {256, 0, 0}, {2, 0, 0}},
                                 {"none_global", {320, 1000, 0}, {5, 16, 0}},
                                 {"none_at_nodes", {512, 0, 1000}, {16, 0, 64}}};

class bound : public testing::TestWithParam<std::tuple<nth_policy, int, bounds>> {
protected:
  nth_policy policy() const { return std::get<0>(GetParam()); }
  int workers() const { return std::get<1>(GetParam()); }
  const bounds &chosen() const { return std::get<2>(GetParam()); }
  // Under policy dos a descriptor is a stack. They come in blocks, of which a worker has one at least.
  detail::thresholds stacks() const {
    detail::thresholds result = chosen().stacks;
    if (policy() == NTH_POLICY_DOS && result.local < detail::block_size)
      result.local = detail::block_size;
    return result;
  }
  detail::thresholds descriptors() const {
    return policy() == NTH_POLICY_DOS ? stacks() : chosen().descriptors;
  }
  nth_options wanted() const {
    nth_options result = options(workers(), policy());
    result.stack_size = 16 << 10;
    result.spin_us = 1;
    result.descriptors_local = chosen().descriptors.local;
    result.descriptors_node = chosen().descriptors.node;
    result.descriptors_global = chosen().descriptors.global;
    result.stacks_local = stacks().local;
    result.stacks_node = stacks().node;
    result.stacks_global = stacks().global;
    return result;
  }

  void expect_bounds(const char *after) const {
    wait_for_rest();
    const idle_objects d = descs_at_rest();
    const idle_objects s = stacks_at_rest();
    const detail::desc_numbers told = detail::count_descs();
    EXPECT_EQ(told.at_workers, d.at_workers) << "what is counted is what is there, after " << after;
    EXPECT_EQ(told.at_nodes, d.at_nodes);
    EXPECT_EQ(told.in_global, d.in_global);
    EXPECT_EQ(told.under_way, d.under_way);
    EXPECT_EQ(d.allocated, d.in_use + d.idle()) << "descriptors, after " << after << ": " << d;
    EXPECT_EQ(s.allocated, s.in_use + s.idle()) << "stacks, after " << after << ": " << s;
    EXPECT_EQ(d.under_way, 0) << "descriptors, after " << after;
    EXPECT_EQ(s.under_way, 0) << "stacks, after " << after;
    expect_below(d, descriptors(), "descriptors", after);
    expect_below(s, stacks(), "stacks", after);
  }

private:
  static void expect_below(const idle_objects &o, const detail::thresholds &of, const char *what,
                           const char *after) {
    EXPECT_LE(o.idle(), idle_bound(of.local, of.node, of.global)) << what << ", after " << after << ": " << o;
    EXPECT_LE(o.at_workers, (detail::the_runtime.workers + 1) * of.local) << what << ", after " << after;
    EXPECT_LE(o.at_nodes, detail::the_area.nodes * of.node) << what << ", after " << after;
    EXPECT_LE(o.in_global, of.global) << what << ", after " << after;
  }
};

// ---- Loads -------------------------------------------------------------------------------------------------

long many() { return pick_size(500, 5'000, 200'000); }

// Made on one worker, ended on another.
void pass_on(int from, int to, long count) {
  auto nothing = [] {};
  auto producer = [&] {
    nth_depadd(nth_self(), count + 1);
    for (long i = 0; i < count; ++i)
      nth_to_lrq_end(to, create(nothing, nth_self()));
    nth_block();
  };
  run([&] {
    nth_depadd(nth_self(), 2);
    nth_to_lrq_end(from, create(producer, nth_self()));
    nth_block();
  });
}

// All are made, none has ended: then all end at once, wherever.
void burst(long count) {
  std::atomic<long> sum = 0;
  auto one = [&] { sum.fetch_add(1, std::memory_order_relaxed); };
  run([&] {
    std::vector<nth_desc *> made;
    nth_depadd(nth_self(), count + 1);
    for (long i = 0; i < count; ++i)
      made.push_back(create(one, nth_self()));
    for (std::size_t i = 0; i < made.size(); ++i)
      nth_to_lrq_end(static_cast<int>(i) % kthreads, made[i]);
    nth_block();
  });
  EXPECT_EQ(sum, count);
}

// A worker is in one long thread while what it has made ends elsewhere and comes home: it takes nothing in.
void never_look(int worker, long count) {
  if (kthreads == 1)
    return;
  std::atomic<long> ended = 0;
  auto one = [&] { ++ended; };
  auto busy = [&] {
    for (int round = 0; round < 3; ++round) {
      ended = 0;
      const int here = nth_worker();
      for (long i = 0; i < count; ++i)
        nth_to_lrq_end((here + 1 + static_cast<int>(i) % (kthreads - 1)) % kthreads, create(one));
      spin_until([&] { return ended == count; });
    }
  };
  // The others' threads make way for this one's, so that it is not held up behind them.
  run([&] {
    nth_depadd(nth_self(), 2);
    nth_to_lrq(worker, create(busy, nth_self()));
    nth_block();
  });
}

// Threads block on one worker and go on, and end, on another: their stacks end up there.
void block_and_move(long count) {
  std::atomic<long> blocked = 0;
  auto sleeper = [&] {
    blocked.fetch_add(1, std::memory_order_relaxed);
    nth_block();
  };
  std::vector<nth_handle_t> handles(static_cast<std::size_t>(count));
  const long lots = kthreads;
  auto waker = [&](long lot) {
    for (long i = lot; i < count; i += lots) {
      if (nth_unblock(handles[static_cast<std::size_t>(i)]) != NTH_OK)
        ADD_FAILURE();
    }
  };
  using wake = decltype(waker);
  run([&] {
    nth_depadd(nth_self(), count + lots + 1);
    for (long i = 0; i < count; ++i) {
      nth_desc *thread = create(sleeper, nth_self());
      handles[static_cast<std::size_t>(i)] = nth_handle(thread);
      nth_to_lrq_end(static_cast<int>(i % kthreads), thread);
    }
    while (blocked < count)
      nth_yield();
    const auto root = +[](wake *body, long lot) { (*body)(lot); };
    for (long lot = 0; lot < lots; ++lot)
      nth_to_lrq_end(static_cast<int>((lot + 1) % kthreads),
                     nth_create_ls(root, 0, nth_self(), 2, &waker, lot));
    nth_block();
  });
}

// Kernel threads outside make the threads.
void from_outside(long count) {
  auto nothing = [] {};
  std::vector<std::thread> outside;
  for (int k = 0; k < 3; ++k) {
    outside.emplace_back([&, k] {
      for (long i = 0; i < count; ++i) {
        if (i % 100 == 0)
          run(nothing);
        nth_to_lrq_end(static_cast<int>(i + k) % kthreads, create(nothing));
      }
    });
  }
  for (std::thread &one : outside)
    one.join();
}

TEST_P(bound, of_what_lies_idle_holds) {
  const watchdog guard(120);
  const runtime up(wanted());
  const long count = policy() == NTH_POLICY_DOS ? many() / 4 : many();
  expect_bounds("the start");
  pass_on(0, workers() - 1, count);
  expect_bounds("threads passed on");
  pass_on(workers() - 1, 0, 3 * count);
  expect_bounds("threads passed back");
  burst(count);
  expect_bounds("a burst");
  never_look(workers() / 2, count / 2);
  expect_bounds("a long thread");
  block_and_move(count / 10);
  expect_bounds("threads that moved");
  from_outside(count / 4);
  expect_bounds("threads from outside");
}

TEST_P(bound, holds_whatever_comes_after_what) {
  const watchdog guard(120);
  std::mt19937 random(static_cast<std::uint32_t>(workers()) * 7 + static_cast<std::uint32_t>(policy()));
  const runtime up(wanted());
  const long rounds = pick_size(2, 6, 100);
  for (long round = 0; round < rounds; ++round) {
    const long count = 1 + static_cast<long>(random() % 1500);
    const auto worker = [&] { return static_cast<int>(random() % static_cast<unsigned>(workers())); };
    switch (random() % 5) {
    case 0:
      pass_on(worker(), worker(), count);
      break;
    case 1:
      burst(count);
      break;
    case 2:
      never_look(worker(), count / 3 + 1);
      break;
    case 3:
      block_and_move(count / 10 + 1);
      break;
    default:
      from_outside(count / 4 + 1);
    }
    if (round % 3 == 2 || round == rounds - 1)
      expect_bounds("some rounds");
    if (HasFailure())
      return;
  }
}

TEST_P(bound, holds_on_several_nodes) {
  const watchdog guard(120);
  for (const char *machine : {"node:2 core:4 pu:1", "node:3 core:1 pu:1"}) {
    SCOPED_TRACE(machine);
    const invented here(machine);
    const runtime up(wanted());
    const long count = many() / 5;
    pass_on(0, workers() - 1, count);
    expect_bounds("threads passed on");
    pass_on(workers() - 1, 0, count);
    expect_bounds("threads passed back");
    burst(2 * count);
    expect_bounds("a burst");
    never_look(workers() / 2, count / 2);
    expect_bounds("a long thread");
    block_and_move(count / 5);
    expect_bounds("threads that moved");
    from_outside(count / 4);
    expect_bounds("threads from outside");
  }
}

// ThreadSanitizer sees the same steps with two workers, and takes a hundred times as long.
std::vector<int> numbers_of_workers() {
  return under_tsan ? std::vector<int>{2} : std::vector<int>{1, 2, 4, 8};
}
std::vector<bounds> some_bounds() {
  constexpr std::size_t all = sizeof all_bounds / sizeof all_bounds[0];
  return {all_bounds, all_bounds + (under_tsan ? 2 : all)};
}

INSTANTIATE_TEST_SUITE_P(of, bound,
                         testing::Combine(testing::ValuesIn(all_policies),
                                          testing::ValuesIn(numbers_of_workers()),
                                          testing::ValuesIn(some_bounds())),
                         [](const auto &test) {
                           return name_of(std::get<0>(test.param)) + std::to_string(std::get<1>(test.param)) +
                                  "_" + std::get<2>(test.param).name;
                         });

// So many threads that they lie in homes of other workers, of other nodes, and of nobody.
TEST(homes, of_no_worker_take_their_descriptors_back) {
  const watchdog guard(120);
  const invented here("node:4 core:1 pu:1");
  for (const long workers : {1, 2}) {
    nth_options wanted = options(workers, NTH_POLICY_DOS);
    wanted.stack_size = 16 << 10;
    wanted.spin_us = 1;
    wanted.area_size = 1L << 30;
    wanted.stacks_local = 256;
    wanted.stacks_node = wanted.stacks_global = 100;
    const runtime up(wanted);
    ASSERT_EQ(detail::the_area.nodes, 4) << "hwloc takes invented machines everywhere";
    for (int h = 0; h < detail::the_area.homes; ++h)
      ASSERT_GE(detail::the_runtime.worker_of_home[h], 0) << "somebody takes in what comes home to " << h;
    const auto room = static_cast<long>((std::size_t{1} << detail::the_area.region_shift) / (16 << 10));
    for (int round = 0; round < 3; ++round) {
      burst(room / 2); // four homes' worth
      wait_for_rest();
      const idle_objects d = descs_at_rest();
      EXPECT_EQ(d.allocated, d.idle()) << d;
      EXPECT_EQ(d.under_way, 0);
      EXPECT_LE(d.idle(), idle_bound(256, 100, 100));
      EXPECT_GE(detail::descs_most(), room / 2) << "this test shows nothing";
    }
  }
}

} // namespace
