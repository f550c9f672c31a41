// fib: recursive Fibonacci, fib(n - 1) spawned and fib(n - 2) called, without a cut-off; ns a spawn.
#ifndef NTH_BENCH_FIB_WORKLOAD_HPP
#define NTH_BENCH_FIB_WORKLOAD_HPP

#include "common/fork_join.hpp"

#include <string>

namespace bench::fib {

inline constexpr const char *name = "fib";
inline constexpr long default_n = 3'524'577; // the spawns of fib(32)

struct problem {
  long number;

  std::string name() const { return "fib(" + std::to_string(number) + ")"; }
  long answer() const { return at(number); }
  long operations() const { return at(number + 1) - 1; } // one for each call with number >= 2

  static long at(long number) {
    long a = 0, b = 1;
    for (; number > 0; --number) {
      const long c = a + b;
      a = b;
      b = c;
    }
    return a;
  }
};

// The largest one with n spawns or fewer.
inline problem largest(long n) {
  problem p{2};
  while (p.number < 80 && problem{p.number + 1}.operations() <= n)
    ++p.number;
  return p;
}

} // namespace bench::fib

#endif
