// yield: two threads a worker that do nothing but yield to each other. The time is that of one yield on
// one worker. A switch that ends in `ret` is predicted where all threads yield at one place, and is not
// where they yield at several: hence the variants.
#ifndef NTH_BENCH_YIELD_WORKLOAD_HPP
#define NTH_BENCH_YIELD_WORKLOAD_HPP

#include "common/harness.hpp"

namespace bench::yielding {

inline constexpr const char *name = "yield";
inline constexpr long default_n = 2'000'000;
inline constexpr int depths = 8;

enum class sites { one, two, eight_depths };

template <class Yield>
[[gnu::noinline]] void first_site(long n, Yield yield) {
  for (long i = 0; i < n; ++i) {
    asm volatile("# first site"); // differs from the second, or the compiler would make them one
    yield();
  }
}

template <class Yield>
[[gnu::noinline]] void second_site(long n, Yield yield) {
  for (long i = 0; i < n; ++i) {
    asm volatile("# second site");
    yield();
  }
}

// Yields on the way down and on the way up, `left` times in all. Returns what is left.
template <class Yield>
[[gnu::noinline]] long walk(int depth, long left, Yield yield) {
  if (left > 0) {
    yield();
    --left;
  }
  if (depth > 1 && left > 0)
    left = walk(depth - 1, left, yield);
  if (left > 0) {
    yield();
    --left;
  }
  return left;
}

// What thread `id` does.
template <class Yield>
void loop(sites s, long id, long n, Yield yield) {
  switch (s) {
  case sites::one:
    first_site(n, yield);
    break;
  case sites::two:
    if (id % 2 == 0)
      first_site(n, yield);
    else
      second_site(n, yield);
    break;
  case sites::eight_depths:
    // Of two depths, so that the partners do not walk in step.
    while (n > 0)
      n = walk(id % 2 == 0 ? depths : depths - 3, n, yield);
    break;
  }
}

inline long threads(const settings &o) { return 2 * o.workers; }

// `body(sites, yields of each thread)` runs all threads and returns the nanoseconds.
template <class Body>
result measure(const program &p, const settings &o, const char *variant, sites s, Body body) {
  const long each = o.n / threads(o) > 0 ? o.n / threads(o) : 1;
  return p.measure(variant, each * threads(o),
                   [&] { return body(s, each) * static_cast<double>(o.workers); });
}

} // namespace bench::yielding

#endif
