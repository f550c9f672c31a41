#include "common/tbb_side.hpp"
#include "nqueens/workload.hpp"

#include <tbb/task_group.h>

namespace {

long solutions(const board_t &b) {
  if (board_full(&b))
    return 1;
  long found[BOARD_MOST];
  int tasks = 0;
  tbb::task_group group;
  for (unsigned open = board_free(&b); open != 0; open &= open - 1)
    group.run([child = board_put(&b, open), slot = &found[tasks++]] { *slot = solutions(child); });
  group.wait();
  long sum = 0;
  while (tasks > 0)
    sum += found[--tasks];
  return sum;
}

} // namespace

int main(int argc, char **argv) {
  bench::program p(bench::nqueens::name, "onetbb", bench::nqueens::default_n);
  const auto &o = p.parse(argc, argv);
  bench::tbb_side tbb_run(o.workers);
  bench::measure(
      p, bench::nqueens::largest(o.n), [](const auto &q) { return solutions(q.board()); },
      [&](auto master) { return tbb_run.run(master); });
}
