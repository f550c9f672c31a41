#include "common/tbb_side.hpp"
#include "fib/workload.hpp"

#include <tbb/task_group.h>

namespace {

long fib(long n) {
  if (n < 2)
    return n;
  long a = 0;
  tbb::task_group group;
  group.run([&a, n] { a = fib(n - 1); });
  const long b = fib(n - 2);
  group.wait();
  return a + b;
}

} // namespace

int main(int argc, char **argv) {
  bench::program p(bench::fib::name, "onetbb", bench::fib::default_n);
  const auto &o = p.parse(argc, argv);
  bench::tbb_side tbb_run(o.workers);
  bench::measure(
      p, bench::fib::largest(o.n), [](const auto &problem) { return fib(problem.number); },
      [&](auto master) { return tbb_run.run(master); });
}
