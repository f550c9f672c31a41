// queue_t: the ready tasks of one scheduler. Its owner pushes and pops at one end, thieves take from the other
// (Chase and Lev, SPAA 2005; memory orders as in Lê, Pop, Cohen and Zappa Nardelli, PPoPP 2013, with the
// owner's fence as an exchange).
#ifndef NTH_BENCH_TASK_MEMORY_QUEUE_HPP
#define NTH_BENCH_TASK_MEMORY_QUEUE_HPP

#include "common/harness.hpp"
#include "task_memory/task.hpp"

#include <array>
#include <atomic>
#include <cstdint>

namespace bench::task_memory {

class queue_t {
public:
  void push(task_t *task) {
    const std::int64_t b = bottom.load(std::memory_order_relaxed);
    if (b - top.load(std::memory_order_acquire) >= places)
      fail("task_memory: a queue is full: fib of so large a number needs more places in queue.hpp");
    at(b).store(task, std::memory_order_relaxed);
    bottom.store(b + 1, std::memory_order_release);
  }

  task_t *pop() {
    const std::int64_t b = bottom.load(std::memory_order_relaxed) - 1;
    if (top.load(std::memory_order_relaxed) > b)
      return nullptr; // top only grows, so it is empty for good; saves the exchange
    // Thieves must see the lower bottom before top is read.
    bottom.exchange(b, std::memory_order_seq_cst);
    std::int64_t t = top.load(std::memory_order_seq_cst);
    if (t < b)
      return at(b).load(std::memory_order_relaxed);
    task_t *task = nullptr;
    if (t == b && top.compare_exchange_strong(t, t + 1, std::memory_order_seq_cst, std::memory_order_relaxed))
      task = at(b).load(std::memory_order_relaxed);
    bottom.store(b + 1, std::memory_order_relaxed);
    return task;
  }

  // Any kernel thread. nullptr: empty, or another one was faster.
  task_t *steal() {
    std::int64_t t = top.load(std::memory_order_seq_cst);
    if (t >= bottom.load(std::memory_order_seq_cst))
      return nullptr;
    task_t *task = at(t).load(std::memory_order_relaxed);
    if (!top.compare_exchange_strong(t, t + 1, std::memory_order_seq_cst, std::memory_order_relaxed))
      return nullptr;
    return task;
  }

private:
  // Depth first, so at most one task a level of the recursion waits here.
  static constexpr std::int64_t places = 1024;
  std::atomic<task_t *> &at(std::int64_t i) { return ring[static_cast<std::size_t>(i) % places]; }

  alignas(64) std::atomic<std::int64_t> top{0};
  alignas(64) std::atomic<std::int64_t> bottom{0};
  alignas(64) std::array<std::atomic<task_t *>, places> ring{};
};

} // namespace bench::task_memory

#endif
