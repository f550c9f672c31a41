// The calls alone.
#include "nqueens/workload.hpp"

namespace {

long placements = 0;

long solutions(const board_t &b) {
  if (board_full(&b))
    return 1;
  long sum = 0;
  for (unsigned open = board_free(&b); open != 0; open &= open - 1)
    sum += solutions(board_put(&b, open));
  return sum;
}

void count_placements(const board_t &b) {
  for (unsigned open = board_free(&b); open != 0; open &= open - 1) {
    ++placements;
    count_placements(board_put(&b, open));
  }
}

} // namespace

int main(int argc, char **argv) {
  bench::program p(bench::nqueens::name, "serial", bench::nqueens::default_n);
  const auto &o = p.parse(argc, argv);
  bench::pin_self(0);
  const auto &problem = bench::nqueens::largest(o.n);
  count_placements(problem.board());
  if (placements != problem.placements)
    bench::fail(problem.name() + ": " + std::to_string(placements) + " placements, not " +
                std::to_string(problem.placements));
  bench::measure(
      p, problem, [](const auto &q) { return solutions(q.board()); }, [](auto master) { return master(); });
}
