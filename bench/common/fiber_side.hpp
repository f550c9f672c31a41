// Boost.Fiber on a number of pinned kernel threads. The caller is the first of them.
#ifndef NTH_BENCH_FIBER_SIDE_HPP
#define NTH_BENCH_FIBER_SIDE_HPP

#include "common/harness.hpp"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include <boost/fiber/all.hpp>

namespace bench {

namespace fibers = boost::fibers;

inline constexpr std::size_t fiber_stack_bytes = 8192;

// Stacks for reuse by any worker: the library's pool is not locked, and malloc gives the memory of
// stacks back and faults it in again, which makes a fiber three times as dear.
class fiber_stacks {
public:
  boost::context::stack_context allocate() {
    boost::context::stack_context s;
    {
      std::lock_guard hold(shared->lock);
      if (!shared->idle.empty()) {
        s.sp = shared->idle.back();
        shared->idle.pop_back();
      }
    }
    if (s.sp == nullptr)
      s.sp = static_cast<char *>(std::aligned_alloc(64, fiber_stack_bytes)) + fiber_stack_bytes;
    s.size = fiber_stack_bytes;
    return s;
  }

  void deallocate(boost::context::stack_context &s) noexcept {
    std::lock_guard hold(shared->lock);
    shared->idle.push_back(s.sp);
  }

private:
  struct pool {
    fibers::detail::spinlock lock;
    std::vector<void *> idle;
  };
  // Copied into each fiber. Never destroyed: a detached fiber gives its stack back after all has ended.
  pool *shared = new pool;
};

class fiber_side {
public:
  // One worker keeps the default, round_robin: it takes no locks. For more, shared_work was the
  // faster and the steadier one of the two schedulers that share.
  explicit fiber_side(long workers) {
    pin_self(0);
    if (workers > 1)
      fibers::use_scheduling_algorithm<fibers::algo::shared_work>(false);
    for (long w = 1; w < workers; ++w)
      others.emplace_back([this, w] {
        pin_self(w);
        fibers::use_scheduling_algorithm<fibers::algo::shared_work>(false);
        std::unique_lock hold(lock);
        ended.wait(hold, [this] { return stop; }); // the fiber waits, so its thread runs others
      });
  }

  ~fiber_side() {
    {
      std::unique_lock hold(lock);
      stop = true;
    }
    ended.notify_all();
    for (auto &t : others)
      t.join();
  }

  fiber_side(const fiber_side &) = delete;
  fiber_side &operator=(const fiber_side &) = delete;

private:
  fibers::mutex lock;
  fibers::condition_variable ended;
  bool stop = false;
  std::vector<std::thread> others;
};

// What a fiber blocks on until `count` others have arrived.
class fiber_countdown {
public:
  explicit fiber_countdown(long count) : left(count) {}

  void arrive() {
    if (left.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      std::unique_lock hold(lock);
      done = true;
      zero.notify_all(); // under the lock: the waiter may destroy this as soon as it can take it
    }
  }

  void wait() {
    std::unique_lock hold(lock);
    zero.wait(hold, [this] { return done; });
  }

private:
  std::atomic<long> left;
  fibers::mutex lock;
  fibers::condition_variable zero;
  bool done = false;
};

} // namespace bench

#endif
