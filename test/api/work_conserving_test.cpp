// Work conserving: no worker idles while a thread is ready that does not run, wherever it waits. In each
// test a long thread spins, without ever giving its worker away, until the others have run; it ends only
// if another worker takes them from where they wait. A hang ends by the watchdog.
#include "../support/runtime.hpp"
#include "../support/size.hpp"

#include <atomic>
#include <unistd.h>
#include <vector>

using namespace nth::test;

namespace {

struct shape {
  nth_policy policy;
  bool asleep; // the idle workers are let go to sleep first
  bool front;
};
std::string name(const shape &one) {
  return std::string(name_of(one.policy)) + (one.asleep ? "_asleep" : "_awake") +
         (one.front ? "_front" : "_end");
}
void PrintTo(const shape &one, std::ostream *out) { *out << name(one); }

class work_conserving : public testing::TestWithParam<shape> {
protected:
  const watchdog guard;

  static void put(int which, nth_desc *thread) {
    (GetParam().front ? nth_to_lrq : nth_to_lrq_end)(which, thread);
  }
  // Gives idle workers the time to fall asleep.
  static void settle() {
    if (GetParam().asleep)
      usleep(60 * 1000);
  }
  static int other() { return 1 - nth_worker(); }
};

// Keeps a worker busy until told.
struct occupant {
  std::atomic<bool> occupied = false, release = false;
  void operator()() {
    occupied = true;
    spin_until([&] { return release.load(); });
  }
  void wait() {
    spin_until([&] { return occupied.load(); });
  }
};

constexpr int chain = 8;
int rounds(bool asleep) { return asleep ? 2 : static_cast<int>(pick_size(2, 6, 20)); }

// The rest of a chain whose first member runs: the other worker is set free by that member.
TEST_P(work_conserving, rest_of_a_running_chain) {
  const runtime up(2, GetParam().policy);
  for (int round = 0; round < rounds(GetParam().asleep); ++round)
    run([] {
      occupant busy;
      std::atomic<int> started = 0, ended = 0;
      auto member = [&] {
        if (started++ == 0) { // the first of the chain that runs
          busy.release = true;
          settle();
          spin_until([&] { return ended == chain - 1; });
        } else {
          ++ended;
        }
      };
      nth_depadd(nth_self(), chain + 2);
      nth_to_lrq_end(other(), create(busy, nth_self()));
      busy.wait();
      for (int i = 0; i < chain; ++i)
        put(nth_worker(), create(member, nth_self()));
      nth_block();
    });
}

// Each member of the chain waits for all behind it, with as many workers as members.
TEST_P(work_conserving, chain_of_long_threads) {
  const runtime up(chain, GetParam().policy);
  for (int round = 0; round < rounds(GetParam().asleep); ++round)
    run([] {
      std::atomic<int> started = 0;
      auto member = [&] {
        ++started;
        spin_until([&] { return started == chain; });
      };
      nth_depadd(nth_self(), chain + 1);
      settle();
      for (int i = 0; i < chain; ++i)
        put(nth_worker(), create(member, nth_self()));
      nth_block();
    });
}

// The inbox of a worker that is in a long thread.
TEST_P(work_conserving, inbox_of_a_busy_worker) {
  const runtime up(2, GetParam().policy);
  for (int round = 0; round < rounds(GetParam().asleep); ++round)
    run([] {
      std::atomic<bool> started = false;
      std::atomic<int> ended = 0;
      auto long_thread = [&] {
        started = true;
        spin_until([&] { return ended == chain - 1; });
      };
      auto member = [&] { ++ended; };
      nth_depadd(nth_self(), chain + 1);
      const int destination = other();
      nth_to_lrq_end(destination, create(long_thread, nth_self()));
      spin_until([&] { return started.load(); });
      for (int i = 1; i < chain; ++i)
        put(destination, create(member, nth_self()));
      nth_block(); // this worker must take them back
    });
}

// The same, but the sender's worker is busy too and a third one is idle.
TEST_P(work_conserving, inbox_of_a_busy_worker_by_a_third) {
  const runtime up(3, GetParam().policy);
  for (int round = 0; round < rounds(GetParam().asleep); ++round)
    run([] {
      std::atomic<int> worker = -1, ended = 0;
      auto long_thread = [&] {
        worker = nth_worker();
        spin_until([&] { return ended == chain - 1; });
      };
      auto member = [&] { ++ended; };
      nth_depadd(nth_self(), chain + 1);
      nth_to_lrq_end((nth_worker() + 1) % 3, create(long_thread, nth_self()));
      spin_until([&] { return worker >= 0; });
      settle();
      for (int i = 1; i < chain; ++i)
        put(worker, create(member, nth_self()));
      spin_until([&] { return ended == chain - 1; });
      nth_block();
    });
}

// The creator itself is the long thread: what it put into its own queue.
TEST_P(work_conserving, queue_of_a_busy_creator) {
  const runtime up(2, GetParam().policy);
  for (const int width : {1, 7, 64, 200})
    for (int round = 0; round < rounds(GetParam().asleep); ++round)
      run([width] {
        std::atomic<int> ended = 0;
        auto member = [&] { ++ended; };
        settle();
        nth_depadd(nth_self(), width + 1);
        for (int i = 0; i < width; ++i)
          put(nth_worker(), create(member, nth_self()));
        spin_until([&] { return ended == width; });
        nth_block();
      });
}

// What a busy creator sent to another worker must get there.
TEST_P(work_conserving, outgoing_threads_of_a_busy_creator) {
  for (const int workers : {2, 4}) {
    const runtime up(workers, GetParam().policy);
    for (const int width : {1, 7, 65})
      for (int round = 0; round < rounds(GetParam().asleep); ++round)
        run([width] {
          std::atomic<int> ended = 0;
          auto member = [&] { ++ended; };
          settle();
          nth_depadd(nth_self(), width + 1);
          const int here = nth_worker();
          for (int i = 0; i < width; ++i)
            put((here + 1 + i % (kthreads - 1)) % kthreads, create(member, nth_self()));
          spin_until([&] { return ended == width; });
          nth_block();
        });
  }
}

// Behind a thread that yielded: it waits in the queue of a worker that runs a long one.
TEST_P(work_conserving, thread_that_yielded) {
  const runtime up(2, GetParam().policy);
  for (int round = 0; round < rounds(GetParam().asleep); ++round)
    run([] {
      occupant busy;
      std::atomic<bool> back = false;
      auto yielder = [&] {
        nth_yield();
        back = true;
      };
      auto long_thread = [&] {
        busy.release = true;
        settle();
        spin_until([&] { return back.load(); });
      };
      nth_depadd(nth_self(), 4);
      nth_to_lrq_end(other(), create(busy, nth_self()));
      busy.wait();
      nth_to_lrq_end(nth_worker(), create(yielder, nth_self()));
      nth_to_lrq_end(nth_worker(), create(long_thread, nth_self()));
      nth_block();
    });
}

// A thread that a long thread unblocked.
TEST_P(work_conserving, thread_unblocked_by_a_busy_one) {
  const runtime up(2, GetParam().policy);
  for (int round = 0; round < rounds(GetParam().asleep); ++round)
    run([] {
      std::atomic<bool> about_to_block = false, back = false;
      auto sleeper = [&] {
        about_to_block = true;
        nth_block();
        back = true;
      };
      nth_depadd(nth_self(), 2);
      nth_desc *thread = create(sleeper, nth_self());
      const nth_handle_t handle = nth_handle(thread);
      nth_to_lrq_end(other(), thread);
      spin_until([&] { return about_to_block.load(); });
      settle();
      EXPECT_EQ(nth_unblock(handle), NTH_OK);
      spin_until([&] { return back.load(); });
      nth_block();
    });
}

// An end that was counted but not posted: the parent's child ended on a worker that runs a long thread now.
TEST_P(work_conserving, end_on_a_worker_that_is_busy_since) {
  const runtime up(2, GetParam().policy);
  for (int round = 0; round < rounds(GetParam().asleep); ++round)
    run([] {
      occupant busy;
      std::atomic<bool> child_ended = false, long_started = false, parent_back = false;
      auto child = [&] { child_ended = true; };
      auto long_thread = [&] {
        long_started = true;
        spin_until([&] { return parent_back.load(); });
      };
      auto holder = [&] { // keeps the parent's worker from taking the child or the long thread
        busy.release = true;
        spin_until([&] { return child_ended && long_started; });
        settle();
      };
      nth_desc *const root = nth_self();
      auto parent = [&] {
        const int destination = other();
        nth_depadd(nth_self(), 2);
        nth_to_lrq_end(destination, create(child, nth_self()));
        nth_to_lrq_end(destination, create(long_thread, root));
        nth_to_lrq_end(nth_worker(), create(holder, root));
        nth_block();
        parent_back = true;
      };
      nth_depadd(nth_self(), 5);
      nth_to_lrq_end(other(), create(busy, nth_self()));
      busy.wait();
      nth_to_lrq(nth_worker(), create(parent, nth_self()));
      nth_block();
    });
}

// Threads that come from a kernel thread outside, one by one, to a worker that is in a long thread.
TEST_P(work_conserving, from_outside_to_a_busy_worker) {
  const runtime up(2, GetParam().policy);
  nth_desc *self = nth_attach();
  ASSERT_NE(self, nullptr);
  for (int round = 0; round < rounds(GetParam().asleep); ++round) {
    std::atomic<int> worker = -1, ended = 0;
    auto long_thread = [&] {
      worker = nth_worker();
      spin_until([&] { return ended == chain - 1; });
    };
    auto member = [&] { ++ended; };
    nth_depadd(self, chain + 1);
    nth_to_lrq_end(0, create(long_thread, self));
    spin_until([&] { return worker >= 0; });
    settle();
    for (int i = 1; i < chain; ++i)
      put(worker, create(member, self));
    nth_block();
  }
  EXPECT_EQ(nth_detach(), NTH_OK);
}

// Batches of a busy creator: in its own queue, and on their way to other workers.
TEST_P(work_conserving, batches_of_a_busy_creator) {
  for (const int workers : {2, 3}) {
    const runtime up(workers, GetParam().policy);
    for (const long width : {1, 8, 64, 200})
      for (const bool here : {true, false})
        for (int round = 0; round < (rounds(GetParam().asleep) + 3) / 4; ++round)
          run([width, here] {
            std::atomic<long> ended = 0;
            const auto member = +[](std::atomic<long> *count) { ++*count; };
            settle();
            nth_desc *last = nullptr;
            nth_desc *const first = nth_batch_get_desc(&last, width);
            for (nth_desc *t = first; t != nullptr; t = nth_batch_get_next(t))
              nth_batch_create_ls(t, member, 0, nth_self(), 1, &ended);
            nth_depadd(nth_self(), width + 1);
            const int to = here ? nth_worker() : (nth_worker() + 1) % kthreads;
            (GetParam().front ? nth_batch_to_lrq : nth_batch_to_lrq_end)(to, first, last);
            spin_until([&] { return ended == width; });
            nth_block();
          });
  }
}

// A batch from outside, to a worker that is in a long thread: it arrives as one.
TEST_P(work_conserving, batch_from_outside_to_a_busy_worker) {
  const runtime up(2, GetParam().policy);
  nth_desc *self = nth_attach();
  ASSERT_NE(self, nullptr);
  for (int round = 0; round < rounds(GetParam().asleep); ++round) {
    constexpr long width = 100;
    std::atomic<int> worker = -1;
    std::atomic<long> ended = 0;
    auto long_thread = [&] {
      worker = nth_worker();
      spin_until([&] { return ended == width; });
    };
    nth_depadd(self, width + 2);
    nth_to_lrq_end(0, create(long_thread, self));
    spin_until([&] { return worker >= 0; });
    settle();
    nth_desc *last = nullptr;
    nth_desc *const first = nth_batch_get_desc(&last, width);
    for (nth_desc *t = first; t != nullptr; t = nth_batch_get_next(t))
      nth_batch_create_ls(
          t, +[](std::atomic<long> *count) { ++*count; }, 0, self, 1, &ended);
    (GetParam().front ? nth_batch_to_lrq : nth_batch_to_lrq_end)(worker, first, last);
    nth_block();
  }
  EXPECT_EQ(nth_detach(), NTH_OK);
}

std::vector<shape> shapes() {
  std::vector<shape> all;
  for (const nth_policy policy : all_policies)
    for (const bool asleep : {false, true})
      for (const bool front : {false, true})
        all.push_back({policy, asleep, front});
  return all;
}
INSTANTIATE_TEST_SUITE_P(shapes, work_conserving, testing::ValuesIn(shapes()),
                         [](const auto &test) { return name(test.param); });

} // namespace
