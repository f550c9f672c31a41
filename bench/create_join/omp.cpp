// OpenMP tasks; compiled twice, for GNU's run-time and for LLVM's.
#include "create_join/workload.hpp"

#include <omp.h>

int main(int argc, char **argv) {
  bench::program p(bench::create_join::name, BENCH_COMPETITOR, bench::create_join::default_n);
  const auto &o = p.parse(argc, argv);
  const int workers = static_cast<int>(o.workers);

  p.report(bench::create_join::measure(p, o.n, [&](long n) {
    double ns = 0;
#pragma omp parallel num_threads(workers)
    {
      bench::pin_self(omp_get_thread_num());
#pragma omp single
      ns = bench::create_join::timed(n, [](long i) {
#pragma omp task firstprivate(i)
        empty_root(i, 0);
#pragma omp taskwait
      });
    }
    return ns;
  }));
}
