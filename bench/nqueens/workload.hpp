// nqueens: all ways to put N queens on a board, a task for each queen that is put where none attacks it; ns a task.
#ifndef NTH_BENCH_NQUEENS_WORKLOAD_HPP
#define NTH_BENCH_NQUEENS_WORKLOAD_HPP

#include "common/fork_join.hpp"
#include "nqueens/board.h"

#include <string>

namespace bench::nqueens {

inline constexpr const char *name = "nqueens";
inline constexpr long default_n = 1'000'000; // 12 queens

struct problem {
  long queens;
  long solutions;  // OEIS A000170
  long placements; // queens put without an attack, in all rows; `nqueens_serial` counts them

  std::string name() const { return std::to_string(queens) + " queens"; }
  long answer() const { return solutions; }
  long operations() const { return placements; }
  board_t board() const { return {(1U << queens) - 1, 0, 0, 0}; }
};

inline constexpr problem problems[] = {
    {6, 4, 152},           {8, 92, 2'056},          {10, 724, 35'538},        {11, 2'680, 166'925},
    {12, 14'200, 856'188}, {13, 73'712, 4'674'889}, {14, 365'596, 27'358'552}};

// The largest one with n placements or fewer.
inline const problem &largest(long n) {
  const problem *found = problems;
  for (const problem &p : problems)
    if (p.placements <= n)
      found = &p;
  return *found;
}

} // namespace bench::nqueens

#endif
