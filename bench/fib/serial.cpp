// The calls alone.
#include "fib/workload.hpp"

namespace {

// Compiled without inlining and without loops in place of calls: the same calls as all others make.
long fib(long n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

} // namespace

int main(int argc, char **argv) {
  bench::program p(bench::fib::name, "serial", bench::fib::default_n);
  const auto &o = p.parse(argc, argv);
  bench::pin_self(0);
  bench::measure(
      p, bench::fib::largest(o.n), [](const auto &problem) { return fib(problem.number); },
      [](auto master) { return master(); });
}
