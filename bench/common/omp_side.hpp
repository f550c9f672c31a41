// An OpenMP team of as many threads as there are workers, each pinned to a core.
#ifndef NTH_BENCH_OMP_SIDE_HPP
#define NTH_BENCH_OMP_SIDE_HPP

#include "common/harness.hpp"

#include <omp.h>

namespace bench {

class omp_side {
public:
  explicit omp_side(long workers) : workers(static_cast<int>(workers)) {}

  // master() in one thread of the team while the others run its tasks.
  template <class Master>
  double run(Master master) const {
    double ns = 0;
#pragma omp parallel num_threads(workers)
    {
      pin_self(omp_get_thread_num());
#pragma omp single
      ns = master();
    }
    return ns;
  }

private:
  int workers;
};

} // namespace bench

#endif
