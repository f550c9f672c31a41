// A model of how thieves get at a worker's private part (src/thread/steal.cpp, worker.hpp), over the memory
// of an x86-64 machine, under interleavings chosen by seed. Names are those of the library.
//
// One owner works on its private part in brackets: busy = 1, look at `request`, work, busy = 0, without a
// locked instruction. Thieves ask, pass a barrier on all cores, wait for busy = 0, lock, take, unlock. Checked:
// nobody is inside while another one is, and no item that the owner has put there is lost or taken twice.
//
// What holds it together is left out in turn, and each time a seed must show it.
#include "store_buffer.hpp"
#include "thread/worker.hpp"

#include "model_runs.hpp"

namespace nth::test {
namespace {

using namespace nth::detail;

enum class fault {
  none,
  no_barrier,             // the thief does not wait for the owner's stores
  no_wait_for_busy,       // the thief locks as soon as it has asked
  another_ones_ask,       // a thief locks by an ask that is not its own
  lock_without_exchange,  // the thief stores "locked", whatever is there
  owner_does_not_wait,    // the owner goes on while a thief has locked
  looks_before_busy,      // the owner looks at request before it sets busy
  leaves_too_early,       // busy = 0 before the work is over
  fence_without_exchange, // no membarrier(2): the owner's busy = 1 is a plain store all the same
};

class model {
public:
  model(std::uint64_t seed, bool with_membarrier, fault left_out)
      : script(seed * 2 + 1), membarrier(with_membarrier), wrong(left_out),
        memory(1 << (1 + 2 * script.below(4))), all(seed) {
    request.value = membarrier ? request_idle : request_fence;
  }

  std::string run() {
    const int brackets = 2 + script.below(10);
    const int thieves = 1 + script.below(3);
    all.each_step = [this] { memory.may_drain(); };
    all.add([this, brackets] { own(brackets); });
    for (int i = 0; i < thieves; ++i) {
      const int tries = 1 + script.below(5);
      all.add([this, tries] {
        for (int n = 0; n < tries; ++n)
          script.one_in(3) ? last_look() : steal_private();
      });
    }
    all.run();
    if (all.failed())
      return all.what();
    if (given + looted + last_count != put)
      return std::to_string(put) + " items were put there, " + std::to_string(given + looted + last_count) +
             " came out";
    return "";
  }

private:
  // ---- The private part: a count of items, in plain memory ----

  void inside(int by) {
    if (holder >= 0)
      interleaving::fail("virtual thread " + std::to_string(by) + " is in the private part while " +
                         std::to_string(holder) + " is");
    holder = by;
  }
  void outside() { holder = -1; }

  // ---- The owner ----

  void own(int brackets) {
    for (int i = 0; i < brackets; ++i) {
      enter();
      inside(interleaving::self());
      memory.store(count, memory.load(count) + 1);
      ++put;
      if (wrong == fault::leaves_too_early) {
        leave();
        interleaving::step();
        outside();
      } else {
        outside();
        leave();
      }
      for (int n = script.below(8); n > 0; --n) // a thread runs
        interleaving::step();
    }
    // What is left: read when nobody can change it any more, for thieves lock no more than they ask.
    enter();
    inside(interleaving::self());
    last_count = memory.load(count);
    memory.store(count, 0);
    outside();
    leave();
    memory.barrier_all();
  }

  void enter() {
    std::uint32_t seen = 0;
    if (wrong == fault::looks_before_busy) {
      seen = memory.load(request);
      memory.store(busy, 1);
    } else {
      memory.store(busy, 1);
      seen = memory.load(request);
    }
    if (seen != request_idle)
      answer_request();
  }
  void leave() { memory.store(busy, 0); }

  void answer_request() {
    for (int spins = 0;; ++spins) {
      std::uint32_t r = memory.load(request);
      if (spins == 0 && (r & request_fence) != 0 && wrong != fault::fence_without_exchange) {
        memory.exchange(busy, 1);
        continue;
      }
      switch (r & request_mask) {
      case request_idle:
        return;
      case request_locked:
        if (wrong == fault::owner_does_not_wait)
          return;
        interleaving::wait();
        continue;
      default:
        break;
      }
      if (!memory.compare_exchange(request, r, (r & request_kept) | request_answering))
        continue;
      share();
      memory.fetch_and(request, request_kept);
      return;
    }
  }
  void share() {
    inside(interleaving::self());
    const std::uint32_t n = memory.load(count);
    memory.store(count, n / 2);
    given += n - n / 2;
    outside();
  }

  // ---- Thieves ----

  // Whether the ask that is there may be locked by: the thief's own, for the barrier that it has passed came
  // after that one, while another's may be so young that the owner, inside, has not seen it.
  bool may_lock_by(std::uint32_t r) const {
    return wrong == fault::another_ones_ask ? (r & request_mask) == request_asked
                                            : (r & ~request_kept) == ask_of(interleaving::self());
  }
  bool ask() {
    std::uint32_t r = memory.load(request);
    do {
      if ((r & request_mask) != request_idle)
        return false; // another thief is at it
    } while (!memory.compare_exchange(request, r, (r & request_kept) | ask_of(interleaving::self())));
    return true;
  }
  // From the thief's ask to `next`; false: it has been answered.
  bool turn_ask(std::uint32_t next) {
    std::uint32_t r = memory.load(request);
    do {
      if (!may_lock_by(r))
        return false;
    } while (!memory.compare_exchange(request, r, (r & request_kept) | next));
    return true;
  }
  void withdraw() { turn_ask(request_idle); }

  void steal_private() {
    if (!ask())
      return;
    for (int n = script.below(4); n > 0; --n) {
      if ((memory.load(request) & request_mask) == request_idle)
        return; // answered
      interleaving::step();
    }
    pass_barrier();
    look_into();
  }
  // Of a worker that goes to sleep: it looks into several, so time goes by between its ask and its look.
  void last_look() {
    memory.fetch_or(request, request_poison);
    const bool asked = ask();
    pass_barrier();
    for (int n = script.below(6); n > 0; --n)
      interleaving::step();
    if (asked && script.below(4) != 0)
      look_into();
    withdraw();
    memory.fetch_and(request, ~request_poison);
  }
  void pass_barrier() {
    if (membarrier && wrong != fault::no_barrier)
      memory.barrier_all();
  }
  void look_into() {
    if (wrong != fault::no_wait_for_busy) {
      for (int spins = 0; memory.load(busy) != 0; ++spins) {
        if (!may_lock_by(memory.load(request)))
          return;
        if (spins > 50)
          return withdraw();
        interleaving::wait();
      }
    }
    if (wrong == fault::lock_without_exchange)
      memory.exchange(request, (memory.load(request) & request_kept) | request_locked);
    else if (!turn_ask(request_locked))
      return;
    inside(interleaving::self());
    looted += memory.load(count);
    memory.store(count, 0);
    outside();
    memory.fetch_and(request, request_kept);
  }

  random_numbers script; // what is done; `all` decides in which order
  const bool membarrier;
  const fault wrong;
  store_buffers memory;
  interleaving all;

  store_buffers::word busy;
  store_buffers::word request;
  store_buffers::word count;

  // What an onlooker knows.
  int holder = -1;
  std::uint32_t put = 0;
  std::uint32_t given = 0;
  std::uint32_t looted = 0;
  std::uint32_t last_count = 0;
};

TEST(request, one_holder_of_the_private_part) {
  expect_no_failure<model>(fault::none, pick_size(10'000, 150'000, 5'000'000));
}

using part = left_out<fault>;
class request_without : public testing::TestWithParam<part> {};

TEST_P(request_without, is_found) { expect_failure<model>(GetParam()); }

INSTANTIATE_TEST_SUITE_P(each, request_without,
                         testing::Values(part{"barrier", fault::no_barrier, true},
                                         part{"wait_for_busy", fault::no_wait_for_busy, true},
                                         part{"own_ask", fault::another_ones_ask, true},
                                         part{"own_ask_fenced", fault::another_ones_ask, false},
                                         part{"exchange_to_locked", fault::lock_without_exchange, true},
                                         part{"waiting_owner", fault::owner_does_not_wait, true},
                                         part{"busy_before_look", fault::looks_before_busy, true},
                                         part{"busy_to_the_end", fault::leaves_too_early, true},
                                         part{"owners_fence", fault::fence_without_exchange, false}),
                         [](const auto &one) { return one.param.name; });

} // namespace
} // namespace nth::test
