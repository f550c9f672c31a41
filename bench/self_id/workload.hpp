// self_id: what it costs a thread to ask who it is.
#ifndef NTH_BENCH_SELF_ID_WORKLOAD_HPP
#define NTH_BENCH_SELF_ID_WORKLOAD_HPP

#include "common/harness.hpp"

namespace bench::self_id {

inline constexpr const char *name = "self_id";
inline constexpr long default_n = 10'000'000;

template <class Ask>
double timed(long n, Ask ask) {
  const double begin = now_ns();
  for (long i = 0; i < n; ++i)
    asm volatile("" : : "r"(ask()) : "memory"); // the answer is needed, and may differ the next time
  return now_ns() - begin;
}

} // namespace bench::self_id

#endif
