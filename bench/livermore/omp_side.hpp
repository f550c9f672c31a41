// What the programs that use OpenMP have in common: one variant of scheduling after another, on threads that are pinned.
#ifndef NTH_BENCH_LIVERMORE_OMP_SIDE_HPP
#define NTH_BENCH_LIVERMORE_OMP_SIDE_HPP

#include "livermore/workload.hpp"

#include <omp.h>

namespace bench::livermore {

template <class Loop>
class omp_side {
public:
  omp_side(int argc, char **argv)
      : w(BENCH_COMPETITOR), chosen(w.parse(argc, argv)), workers(static_cast<int>(chosen.workers)),
        n(chosen.n), loop(n) {
    const int threads = workers;
#pragma omp parallel num_threads(threads)
    pin_self(omp_get_thread_num());
  }

  // Measures and reports work().
  template <class F>
  void run(const char *variant, F work) {
    w.report(measure(w, loop, variant, [&] { return timed(work); }));
  }

  // The rows of one thread of a team when each gets as many; `begin` is the first of all.
  part_of own_rows(long begin) const {
    return {begin, loop.rows(), omp_get_thread_num(), omp_get_num_threads()};
  }

private:
  workload<Loop> w;
  const settings &chosen;

public:
  const int workers;
  const long n;
  Loop loop;
};

} // namespace bench::livermore

#endif
