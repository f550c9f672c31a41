// Empty: a master creates n threads that do nothing, one by one, and waits until all have ended.
#ifndef NTH_BENCH_EMPTY_WORKLOAD_HPP
#define NTH_BENCH_EMPTY_WORKLOAD_HPP

#include "common/harness.hpp"
#include "empty/root.h"

#include <algorithm>
#include <string>

namespace bench::empty {

inline constexpr const char *name = "empty";
inline constexpr long default_n = 1'000'000;

struct workload : program {
  workload(const char *competitor, long n) : program(name, competitor, n) {
    option("--window", window, "threads that are created before the master waits for them; 0: all n");
  }
  long window = 0;
};

// Called where the competitor's master runs. `wave(count)` creates that many threads and waits.
template <class Wave>
double timed(long n, long window, Wave wave) {
  const double begin = now_ns();
  for (long left = n; left > 0;) {
    const long count = window > 0 ? std::min(window, left) : left;
    wave(count);
    left -= count;
  }
  return now_ns() - begin;
}

// `body(n, window)` runs the master once and returns the nanoseconds. A thread that did not run, or ran
// twice, ends the program.
template <class Body>
result measure(const workload &w, long n, Body body) {
  const std::string variant = w.window > 0 ? "windows of " + std::to_string(w.window) : "";
  return w.measure(variant, n, [&] {
    const long before = empty_runs();
    const double ns = body(n, w.window);
    if (const long runs = empty_runs() - before; runs != n)
      fail("empty: " + std::to_string(runs) + " threads ran, not " + std::to_string(n));
    return ns;
  });
}

} // namespace bench::empty

#endif
