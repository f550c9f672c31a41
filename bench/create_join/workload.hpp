// create_join: the master creates one thread that does nothing and waits for it, n times over.
#ifndef NTH_BENCH_CREATE_JOIN_WORKLOAD_HPP
#define NTH_BENCH_CREATE_JOIN_WORKLOAD_HPP

#include "common/harness.hpp"
#include "empty/root.h"

#include <string>

namespace bench::create_join {

inline constexpr const char *name = "create_join";
inline constexpr long default_n = 500'000;

// Called where the competitor's master runs. `pair(i)` creates a thread and joins it.
template <class Pair>
double timed(long n, Pair pair) {
  const double begin = now_ns();
  for (long i = 0; i < n; ++i)
    pair(i);
  return now_ns() - begin;
}

template <class Body>
result measure(const program &p, long n, Body body) {
  return p.measure("", n, [&] {
    const long before = empty_runs();
    const double ns = body(n);
    if (const long runs = empty_runs() - before; runs != n)
      fail("create_join: " + std::to_string(runs) + " threads ran, not " + std::to_string(n));
    return ns;
  });
}

} // namespace bench::create_join

#endif
