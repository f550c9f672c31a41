// Compiled twice, for GNU's run-time and for LLVM's. Taskloops count in unsigned: clang warns of code of its own else.
// Why no schedule deadlocks: `static,1` gives each thread its rows in their order, and all threads of a team run;
// `monotonic` hands rows out in their order; a taskloop orders nothing, so a task takes the next row that nobody has
// begun.
#include "livermore/loop6.hpp"
#include "livermore/omp_side.hpp"

namespace lm = bench::livermore;

int main(int argc, char **argv) {
  lm::omp_side<lm::loop6> side(argc, argv);
  lm::loop6 &loop = side.loop;
  const int workers = side.workers;
  const long end = side.n;
  const auto uend = static_cast<unsigned long>(end);

  side.run("equal", [&] {
#pragma omp parallel num_threads(workers)
    {
      const lm::part_of rows = side.own_rows(1);
      loop.sweep(rows.first, rows.last);
    }
  });
  side.run("static,1", [&] {
#pragma omp parallel for num_threads(workers) schedule(static, 1)
    for (long i = 1; i < end; ++i)
      loop.row(i);
  });
  side.run("dynamic,1", [&] {
#pragma omp parallel for num_threads(workers) schedule(monotonic : dynamic, 1)
    for (long i = 1; i < end; ++i)
      loop.row(i);
  });
  side.run("guided", [&] {
#pragma omp parallel for num_threads(workers) schedule(monotonic : guided)
    for (long i = 1; i < end; ++i)
      loop.row(i);
  });
  side.run("taskloop", [&] {
#pragma omp parallel num_threads(workers)
#pragma omp single
#pragma omp taskloop grainsize(1)
    for (unsigned long i = 1; i < uend; ++i)
      loop.next_row();
  });
}
