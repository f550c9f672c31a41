#include "common/nth_side.hpp"
#include "fib/nth_fib.h"
#include "fib/workload.hpp"

#include <nth/spawn.hpp>

namespace {

long fib(long n) {
  if (n < 2)
    return n;
  nth::spawned left([n] { return fib(n - 1); });
  const long right = fib(n - 2);
  return left.sync() + right;
}

} // namespace

int main(int argc, char **argv) {
  bench::program p(bench::fib::name, bench::nth_competitor(), bench::fib::default_n);
  bench::nth_side nth(p);
  const auto &o = p.parse(argc, argv);
  nth.start(o.workers);

  const auto problem = bench::fib::largest(o.n);
  const auto run = [&](auto master) { return nth.run(master); };
  const auto counts = [&](bench::result &r) { nth.counts(r); };
  bench::measure(
      p, problem, "C", [](const auto &q) { return fib_nth(q.number); }, run, counts);
  bench::measure(
      p, problem, "C++", [](const auto &q) { return fib(q.number); }, run, counts);
  nth.stop();
}
