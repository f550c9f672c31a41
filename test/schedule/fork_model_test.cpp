// The deque of spawned calls and loops (fork_deque.hpp) under interleavings chosen by seed: an owner that spawns,
// syncs, loops and suspends, one or two thieves. Checked: each call and each index of a loop runs once, no piece of
// a loop is shorter than the least, unless the whole loop is, nobody follows a link to a record whose sync has
// returned, and the owner comes to its end.
//
// What holds it together is left out in turn, and each time a seed must show it.
#include "fork_deque.hpp"

#include "model_runs.hpp"

#include <utility>

namespace nth::test {
namespace {

using fork::deque;
using fork::fault;

class model {
public:
  model(std::uint64_t seed, bool membarrier, fault left_out)
      : script(seed * 2 + 1), wrong(left_out), memory(1 << (1 + 2 * script.below(4))),
        target(memory, membarrier, left_out), all(seed) {}

  std::string run() {
    const int thieves = script.one_in(4) ? 1 : 2;
    all.each_step = [this] { memory.may_drain(); };
    all.add([this] {
      body(0);
      memory.barrier_all();
    });
    for (int i = 0; i < thieves; ++i) {
      const int tries = 1 + script.below(8);
      all.add([this, tries] {
        for (int n = 0; n < tries; ++n)
          script.one_in(8) ? go_to_sleep() : look_for_work();
      });
    }
    all.run();
    if (all.failed())
      return all.what();
    for (std::size_t i = 0; i < runs.size(); ++i)
      if (runs[i] != 1)
        return "call " + std::to_string(i) + " has run " + std::to_string(runs[i]) + " times";
    return target.empty() ? "" : "the deque is not empty at the end";
  }

private:
  using link = deque::link;
  static constexpr int most_records = 7;
  static constexpr int leaf = 3; // calls nest so deep

  // ---- The owner ----

  // A function: spawns, loops, suspends; syncs the youngest first, as a rule.
  void body(int depth) {
    interleaving::step();
    if (depth == leaf)
      return;
    const int frame = used;
    link open[4];
    int count = 0;
    for (int n = script.below(4); n > 0 && made < most_records; --n) {
      const bool loop = script.one_in(3);
      const bool long_one = loop && !script.one_in(3);
      const int calls = !loop ? 1 : long_one ? 1 + script.below(12) : script.below(5);
      const int least = !loop ? 0 : long_one ? 2 + script.below(2) : 1;
      const link r = target.fresh(used++, static_cast<int>(runs.size()), static_cast<std::uint32_t>(calls),
                                  static_cast<std::uint32_t>(least));
      runs.resize(runs.size() + static_cast<std::size_t>(calls));
      ++made;
      target.spawn(r);
      if (loop)
        run_loop(r, depth);
      else
        open[count++] = r;
      if (script.one_in(8))
        suspend(depth);
    }
    while (count > 0) {
      const bool in_order = wrong == fault::plain_reset || !script.one_in(8);
      std::swap(open[in_order ? count - 1 : script.below(count)], open[count - 1]);
      sync(open[--count], depth);
    }
    used = frame;
  }

  void call(int number, int depth) {
    ++runs[static_cast<std::size_t>(number)];
    body(depth + 1);
  }

  void sync(link r, int depth) {
    if (target.pop(r)) {
      const int number = target.at(r).first;
      target.gone(r);
      return call(number, depth);
    }
    target.leave_behind();
    wait(r, depth);
  }

  void run_loop(link r, int depth) {
    const deque::record loop = target.at(r);
    const std::uint32_t most = loop.least + static_cast<std::uint32_t>(script.below(3));
    for (std::uint32_t i = 0, got = 0; (got = target.claim(r, loop.whole, most, i)) != 0;) {
      no_shorter_than_the_least(loop, got);
      for (; got != 0; --got, ++i)
        call(loop.first + static_cast<int>(i), script.one_in(3) ? depth : leaf - 1);
    }
    if (!target.pop(r))
      target.leave_behind();
    wait(r, depth);
  }

  void wait(link r, int depth) { // other threads run here meanwhile
    while (!target.ended(r)) {
      if (!run_queued(depth))
        interleaving::wait();
    }
    target.gone(r);
  }

  void suspend(int depth) {
    target.share_all(true);
    for (int n = script.below(3); n > 0; --n)
      run_queued(depth);
  }

  // ---- All ----

  static void no_shorter_than_the_least(const deque::record &loop, std::uint32_t n) {
    if (n != 0 && n < loop.least && loop.whole >= loop.least)
      interleaving::fail("a piece of " + std::to_string(n) + " indices where " + std::to_string(loop.least) +
                         " are the least");
  }

  bool run_queued(int depth) {
    interleaving::step();
    if (target.queue.empty())
      return false;
    const deque::work w = target.queue.front();
    target.queue.erase(target.queue.begin());
    run_work(w, depth);
    return true;
  }
  void run_work(const deque::work &w, int depth) {
    if (target.at(w.of).loop)
      no_shorter_than_the_least(target.at(w.of), w.end - w.begin);
    for (std::uint32_t i = w.begin; i < w.end; ++i) {
      const int number = target.at(w.of).first + static_cast<int>(i);
      if (interleaving::self() == 0)
        call(number, depth);
      else
        ++runs[static_cast<std::size_t>(number)];
      interleaving::step();
    }
    target.finish(w);
  }

  // ---- Thieves ----

  void look_for_work() {
    if (run_queued(leaf) || !target.ask())
      return;
    for (int n = script.below(6); n > 0; --n) {
      if (target.answered())
        return;
    }
    if (script.one_in(8))
      return target.withdraw(); // it has found something else
    const deque::work loot = target.steal();
    if (loot.any())
      run_work(loot, leaf);
  }
  void go_to_sleep() {
    target.poison();
    if (script.one_in(2))
      target.end_poison();
  }

  random_numbers script; // what is done; `all` decides in which order
  const fault wrong;
  store_buffers memory;
  deque target;
  interleaving all;

  int used = 1; // places; the sentinel has the first
  int made = 0;
  std::vector<int> runs; // of each call and index
};

TEST(fork, each_call_runs_once) {
  expect_no_failure<model>(fault::none, pick_size(4'000, 150'000, 1'500'000));
}

using part = left_out<fault>;
class fork_without : public testing::TestWithParam<part> {};

TEST_P(fork_without, is_found) { expect_failure<model>(GetParam()); }

INSTANTIATE_TEST_SUITE_P(each, fork_without,
                         testing::Values(part{"barrier", fault::no_barrier, true},
                                         part{"barred", fault::barred_not_set, true},
                                         part{"barred_after_unlock", fault::barred_lost_at_unlock, true},
                                         part{"look_at_barred", fault::takes_though_barred, true},
                                         part{"own_ask", fault::another_ones_ask, true},
                                         part{"bottom_before_top", fault::top_before_bottom, true},
                                         part{"restored_top", fault::top_not_restored, true},
                                         part{"top_before_look", fault::looks_before_top, true},
                                         part{"lo_before_look", fault::looks_before_lo, true},
                                         part{"restored_lo", fault::lo_not_restored, true},
                                         part{"barred_last_index", fault::last_index_unbarred, true},
                                         part{"barred_spent_loop", fault::spent_loop_unbarred, true},
                                         part{"fresh_hi", fault::stale_hi, true},
                                         part{"end_of_a_piece", fault::piece_not_looked_at, true},
                                         part{"short_rest_seen", fault::short_rest_not_seen, true},
                                         part{"short_rest_claimed", fault::short_rest_left, true},
                                         part{"short_rest_not_taken", fault::short_rest_taken, true},
                                         part{"lo_read_once", fault::lo_read_twice, true},
                                         part{"held_reset", fault::plain_reset, true},
                                         part{"others_shared", fault::others_not_shared, true},
                                         part{"state_before_queue", fault::queued_too_early, true},
                                         part{"mask_of_kept_bits", fault::kept_bits_are_requests, true},
                                         part{"owners_fence", fault::fence_without_exchange, false}),
                         [](const auto &one) { return one.param.name; });

} // namespace
} // namespace nth::test
