// A lock for slow paths: taken once for many objects, held for a few instructions.
#pragma once

#include <atomic>
#include <sched.h>

namespace nth::detail {

class spinlock {
public:
  void lock() noexcept {
    // Its holder may have been preempted when there are more workers than cores: give way after a while.
    for (int spins = 0; held.exchange(true, std::memory_order_acquire); ++spins) {
      if (spins > 100)
        sched_yield();
    }
  }
  void unlock() noexcept { held.store(false, std::memory_order_release); }

private:
  std::atomic<bool> held{false};
};

class lock_scope {
public:
  explicit lock_scope(spinlock &taken) noexcept : lock(taken) { lock.lock(); }
  ~lock_scope() noexcept { lock.unlock(); }
  lock_scope(const lock_scope &) = delete;
  lock_scope &operator=(const lock_scope &) = delete;

private:
  spinlock &lock;
};

} // namespace nth::detail
