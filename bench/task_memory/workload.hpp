// task_memory: the comparison of paper 001, section 1.4. Recursive Fibonacci, a task for each call, each task
// with memory of its own; where that memory comes from is what the programs differ in.
#ifndef NTH_BENCH_TASK_MEMORY_WORKLOAD_HPP
#define NTH_BENCH_TASK_MEMORY_WORKLOAD_HPP

#include "common/harness.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace bench::task_memory {

inline constexpr const char *name = "task_memory";

// Which Fibonacci numbers; the paper's is the first.
inline constexpr long numbers[] = {12, 20, 25};
// Tasks of one repetition, about: as many runs as come near it, one at least.
inline constexpr long default_n = 200'000;

inline long fib_value(long n) {
  long a = 0, b = 1;
  for (; n > 0; --n)
    b = a + std::exchange(a, b);
  return a;
}

// Calls of the recursion: f(n) = 1 + f(n - 1) + f(n - 2).
inline long fib_tasks(long n) { return 2 * fib_value(n + 1) - 1; }

inline double quantile(const std::vector<double> &sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const auto high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (sorted[high] - sorted[low]) * (at - static_cast<double>(low));
}

// The table's figures, over single runs: microseconds each.
inline void count_runs(result &r, std::vector<double> us) {
  std::sort(us.begin(), us.end());
  const auto count = static_cast<double>(us.size());
  const double mean = std::accumulate(us.begin(), us.end(), 0.0) / count;
  double squares = 0;
  for (const double v : us)
    squares += (v - mean) * (v - mean);
  r.count("runs", static_cast<long>(us.size()));
  r.count("mean_us", mean);
  r.count("sd_us", us.size() > 1 ? std::sqrt(squares / (count - 1)) : 0.0);
  r.count("q1_us", quantile(us, 0.25));
  r.count("median_us", quantile(us, 0.5));
  r.count("q3_us", quantile(us, 0.75));
}

// What one run of fib(n) gave.
struct outcome {
  long value;
  long tasks; // made, and given back since
  double ns;
};

// `repetition(number, runs, each)` runs fib(number) `runs` times and calls each(outcome) after every one.
template <class Repetition>
void measure_fib(const program &p, const settings &o, const Repetition &repetition) {
  for (const long number : numbers) {
    const long tasks = fib_tasks(number);
    const long runs = std::max(1L, o.n / tasks);
    std::vector<double> us;
    result r = p.measure("fib(" + std::to_string(number) + ")", runs * tasks, [&] {
      double sum = 0;
      repetition(number, runs, [&](const outcome &one) {
        if (one.value != fib_value(number))
          fail("task_memory: fib(" + std::to_string(number) + ") came out as " + std::to_string(one.value));
        if (one.tasks != tasks)
          fail("task_memory: " + std::to_string(one.tasks) + " tasks, not " + std::to_string(tasks));
        us.push_back(one.ns / 1e3);
        sum += one.ns;
      });
      return sum;
    });
    // The repetitions that do not count came first.
    const auto counted = static_cast<std::ptrdiff_t>(r.samples.size()) * runs;
    us.erase(us.begin(), us.end() - counted);
    count_runs(r, std::move(us));
    p.report(std::move(r));
  }
}

} // namespace bench::task_memory

#endif
