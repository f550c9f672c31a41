#include "common/nth_side.hpp"
#include "common/spawned_array.hpp"
#include "nqueens/nth_solutions.h"
#include "nqueens/workload.hpp"

namespace {

long solutions(const board_t &b) {
  if (board_full(&b))
    return 1;
  const auto child = [&b](unsigned open) { return [next = board_put(&b, open)] { return solutions(next); }; };
  bench::spawned_array<decltype(child(0)), BOARD_MOST> tasks;
  for (unsigned open = board_free(&b); open != 0; open &= open - 1)
    tasks.spawn(child(open));
  long sum = 0;
  while (!tasks.empty())
    sum += tasks.sync_last();
  return sum;
}

} // namespace

int main(int argc, char **argv) {
  bench::program p(bench::nqueens::name, bench::nth_competitor(), bench::nqueens::default_n);
  bench::nth_side nth(p);
  const auto &o = p.parse(argc, argv);
  nth.start(o.workers);

  const auto &problem = bench::nqueens::largest(o.n);
  const auto run = [&](auto master) { return nth.run(master); };
  const auto counts = [&](bench::result &r) { nth.counts(r); };
  const auto c = [](const auto &q) {
    const board_t board = q.board();
    return solutions_nth(&board);
  };
  bench::measure(p, problem, "C", c, run, counts);
  bench::measure(
      p, problem, "C++", [](const auto &q) { return solutions(q.board()); }, run, counts);
  nth.stop();
}
