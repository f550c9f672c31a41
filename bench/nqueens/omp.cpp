// OpenMP tasks; compiled twice, for GNU's run-time and for LLVM's.
#include "common/omp_side.hpp"
#include "nqueens/workload.hpp"

namespace {

long solutions(const board_t &b) {
  if (board_full(&b))
    return 1;
  long found[BOARD_MOST];
  int tasks = 0;
  for (unsigned open = board_free(&b); open != 0; open &= open - 1, ++tasks) {
    const board_t child = board_put(&b, open);
#pragma omp task shared(found) firstprivate(child, tasks)
    found[tasks] = solutions(child);
  }
#pragma omp taskwait
  long sum = 0;
  while (tasks > 0)
    sum += found[--tasks];
  return sum;
}

} // namespace

int main(int argc, char **argv) {
  bench::program p(bench::nqueens::name, BENCH_COMPETITOR, bench::nqueens::default_n);
  const auto &o = p.parse(argc, argv);
  const bench::omp_side team(o.workers);
  bench::measure(
      p, bench::nqueens::largest(o.n), [](const auto &q) { return solutions(q.board()); },
      [&](auto master) { return team.run(master); });
}
