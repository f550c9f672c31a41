// OpenMP tasks; compiled twice, for GNU's run-time and for LLVM's. GNU's calls a task at once when 64
// times as many as there are threads wait.
#include "empty/workload.hpp"

#include <omp.h>

int main(int argc, char **argv) {
  bench::empty::workload w(BENCH_COMPETITOR, bench::empty::default_n);
  const auto &o = w.parse(argc, argv);
  const int workers = static_cast<int>(o.workers);

  w.report(bench::empty::measure(w, o.n, [&](long n, long window) {
    double ns = 0;
#pragma omp parallel num_threads(workers)
    {
      bench::pin_self(omp_get_thread_num());
#pragma omp single
      ns = bench::empty::timed(n, window, [](long count) {
        for (long i = 0; i < count; ++i) {
#pragma omp task firstprivate(i)
          empty_root(i, 0);
        }
#pragma omp taskwait
      });
    }
    return ns;
  }));
}
