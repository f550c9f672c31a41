// Livermore kernels 6 and 21 at the sizes of paper 003, section 5. An operation is a row: what a thread of variant
// natural does.
#ifndef NTH_BENCH_LIVERMORE_WORKLOAD_HPP
#define NTH_BENCH_LIVERMORE_WORKLOAD_HPP

#include "common/harness.hpp"

#include <string>
#include <utility>

namespace bench::livermore {

template <class Loop>
struct workload : program {
  explicit workload(const char *competitor) : program(Loop::workload, competitor, Loop::default_n) {
    defaults(7, 1);
  }
};

// The part'th of `parts` equal parts of the rows from `begin` on.
struct part_of {
  long first, last;
  part_of(long begin, long rows, long part, long parts)
      : first(begin + rows * part / parts), last(begin + rows * (part + 1) / parts) {}
};

// body() solves once and returns the nanoseconds. A result that is not that of the serial kernel ends the program.
template <class Loop, class Body>
result measure(const program &p, Loop &loop, const std::string &variant, Body body) {
  return p.measure(variant, loop.rows(), [&] {
    loop.reset();
    const double ns = body();
    loop.check(variant);
    return ns;
  });
}

template <class Work>
double timed(Work work) {
  const double begin = now_ns();
  work();
  return now_ns() - begin;
}

} // namespace bench::livermore

#endif
