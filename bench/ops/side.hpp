// What the programs of ops share: ticks as nanoseconds, and phases as results.
#ifndef NTH_BENCH_OPS_SIDE_HPP
#define NTH_BENCH_OPS_SIDE_HPP

#include "common/harness.hpp"
#include "ops/ticks.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace bench::ops {

inline constexpr long default_n = 10'240; // ten batches of 1,024; 655,360 bytes of descriptors

// Of one tick, against the monotonic clock over 20 ms.
inline double ns_of_a_tick() {
  const double from = now_ns();
  const std::uint64_t begin = ticks();
  while (now_ns() - from < 20e6) {
  }
  const std::uint64_t end = ticks();
  return (now_ns() - from) / static_cast<double>(end - begin);
}

// A repetition in which the kernel took a core away is made again, so many times at most, where each worker has a
// core.
inline constexpr long repetitions_again = 20;

// Samples of several phases of one repetition each, by variant.
class phases {
public:
  phases() : ns(ns_of_a_tick()) {}

  void add(const std::string &variant, double phase_ticks, long n) {
    found[variant].push_back(phase_ticks / static_cast<double>(n));
  }

  void report(const program &p, long n) const {
    for (const auto &[variant, per_op] : found) {
      result r;
      r.variant = variant;
      r.n = n;
      for (double t : per_op)
        r.samples.push_back(t * ns);
      r.count("cycles", median(per_op));
      p.report(std::move(r));
    }
  }

private:
  double ns;
  std::map<std::string, std::vector<double>> found;
};

} // namespace bench::ops

#endif
