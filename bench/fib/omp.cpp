// OpenMP tasks; compiled twice, for GNU's run-time and for LLVM's.
#include "common/omp_side.hpp"
#include "fib/workload.hpp"

namespace {

long fib(long n) {
  if (n < 2)
    return n;
  long a = 0;
#pragma omp task shared(a) firstprivate(n)
  a = fib(n - 1);
  const long b = fib(n - 2);
#pragma omp taskwait
  return a + b;
}

} // namespace

int main(int argc, char **argv) {
  bench::program p(bench::fib::name, BENCH_COMPETITOR, bench::fib::default_n);
  const auto &o = p.parse(argc, argv);
  const bench::omp_side team(o.workers);
  bench::measure(
      p, bench::fib::largest(o.n), [](const auto &problem) { return fib(problem.number); },
      [&](auto master) { return team.run(master); });
}
