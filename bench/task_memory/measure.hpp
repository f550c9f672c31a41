// What the programs of the bench's own run-time system do: fib on it, and task memory alone.
#ifndef NTH_BENCH_TASK_MEMORY_MEASURE_HPP
#define NTH_BENCH_TASK_MEMORY_MEASURE_HPP

#include "task_memory/runtime.hpp"
#include "task_memory/workload.hpp"

#include <atomic>

namespace bench::task_memory {

template <memory_source Memory>
void fib(task_t &self) {
  if (self.argument < 2) {
    *self.result = self.argument;
    return;
  }
  long a = 0, b = 0;
  runtime<Memory>::sync(self, std::array{child_t{fib<Memory>, self.argument - 1, &a},
                                         child_t{fib<Memory>, self.argument - 2, &b}});
  *self.result = a + b;
}

// `at_rest(locals)` is called after each repetition, when every task's memory has been given back.
template <memory_source Memory, class At_rest>
void measure_runtime(const program &p, const settings &o, Memory &memory, At_rest at_rest) {
  runtime<Memory> rt(memory, static_cast<int>(o.workers));
  const auto check = [&] {
    std::vector<const typename Memory::local *> locals;
    rt.for_each_local([&](const auto &l) { locals.push_back(&l); });
    at_rest(locals);
  };
  measure_fib(p, o, [&](long number, long runs, auto each) {
    rt.wake();
    for (long i = 0; i < runs; ++i) {
      long value = 0;
      const long before = rt.settle();
      const double begin = now_ns();
      rt.run({fib<Memory>, number, &value});
      const double ns = now_ns() - begin;
      each(outcome{value, rt.settle() - before, ns});
    }
    check();
  });
}

// Task memory alone, by each scheduler's kernel thread at the same time: `held` are taken, then given back,
// the youngest first, over and over, as the recursion does. ns for one taken and given back.
template <memory_source Memory>
void measure_memory(const program &p, const settings &o, Memory &memory, long held) {
  const long rounds = std::max(1L, o.n / held);
  p.report(p.measure("memory, " + std::to_string(held) + " held", rounds * held, [&] {
    std::atomic<long> ready{0};
    std::vector<double> took(static_cast<std::size_t>(o.workers));
    const auto body = [&](long index) {
      const bool pinned = static_cast<std::size_t>(o.workers) <= usable_cores().size();
      if (pinned)
        pin_self(index);
      typename Memory::local local;
      memory.enter(local);
      std::vector<task_t *> tasks(static_cast<std::size_t>(held));
      const auto round = [&] {
        for (task_t *&t : tasks)
          t = memory.take(local);
        for (std::size_t i = tasks.size(); i > 0; --i)
          memory.give_back(local, tasks[i - 1]);
      };
      round(); // first touches
      ready.fetch_add(1);
      while (ready.load() != o.workers)
        sched_yield();
      const double begin = now_ns();
      for (long r = 0; r < rounds; ++r)
        round();
      took[static_cast<std::size_t>(index)] = now_ns() - begin;
      memory.leave(local);
    };
    std::vector<std::thread> threads;
    for (long i = 0; i < o.workers; ++i)
      threads.emplace_back(body, i);
    for (auto &t : threads)
      t.join();
    double sum = 0;
    for (const double ns : took)
      sum += ns;
    return sum / static_cast<double>(o.workers);
  }));
}

} // namespace bench::task_memory

#endif
