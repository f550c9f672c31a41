// Compiled twice, for GNU's run-time and for LLVM's. Taskloops count in unsigned: clang warns of code of its own else.
#include "livermore/loop21.hpp"
#include "livermore/omp_side.hpp"

namespace lm = bench::livermore;

int main(int argc, char **argv) {
  lm::omp_side<lm::loop21> side(argc, argv);
  lm::loop21 &loop = side.loop;
  const int workers = side.workers;
  const long n = side.n;
  const auto un = static_cast<unsigned long>(n);

  side.run("equal", [&] {
#pragma omp parallel num_threads(workers)
    {
      const lm::part_of rows = side.own_rows(0);
      loop.kernel_order(rows.first, rows.last);
    }
  });
  side.run("static", [&] {
#pragma omp parallel for num_threads(workers) schedule(static)
    for (long j = 0; j < n; ++j)
      loop.row(j);
  });
  side.run("dynamic,1", [&] {
#pragma omp parallel for num_threads(workers) schedule(dynamic, 1)
    for (long j = 0; j < n; ++j)
      loop.row(j);
  });
  side.run("dynamic,8", [&] {
#pragma omp parallel for num_threads(workers) schedule(dynamic, 8)
    for (long j = 0; j < n; ++j)
      loop.row(j);
  });
  side.run("guided", [&] {
#pragma omp parallel for num_threads(workers) schedule(guided)
    for (long j = 0; j < n; ++j)
      loop.row(j);
  });
  side.run("taskloop", [&] {
#pragma omp parallel num_threads(workers)
#pragma omp single
#pragma omp taskloop
    for (unsigned long j = 0; j < un; ++j)
      loop.row(static_cast<long>(j));
  });
  side.run("taskloop, grain 1", [&] {
#pragma omp parallel num_threads(workers)
#pragma omp single
#pragma omp taskloop grainsize(1)
    for (unsigned long j = 0; j < un; ++j)
      loop.row(static_cast<long>(j));
  });
}
