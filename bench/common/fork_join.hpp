// What the fork-join workloads share. A problem has a name, a number of operations, and knows its answer.
#ifndef NTH_BENCH_FORK_JOIN_HPP
#define NTH_BENCH_FORK_JOIN_HPP

#include "common/harness.hpp"

#include <concepts>
#include <string>

namespace bench {

template <class P>
concept fork_join_problem = requires(const P &p) {
  { p.name() } -> std::convertible_to<std::string>;
  { p.operations() } -> std::convertible_to<long>;
  p.answer();
};

// Called where the competitor's master runs: nanoseconds that root(problem) took. Ends the program when it gives
// another answer than the problem has.
template <fork_join_problem Problem, class Root>
double timed(const Problem &problem, Root root) {
  const double begin = now_ns();
  const auto found = root(problem);
  const double ns = now_ns() - begin;
  if (!(found == problem.answer()))
    fail(problem.name() + ": wrong answer");
  return ns;
}

// `run(f)` calls f where the competitor's master runs and returns what it returns; `done(result)` adds counts.
template <fork_join_problem Problem, class Root, class Run, class Done>
void measure(const program &p, const Problem &problem, const std::string &variant, Root root, Run run,
             Done done) {
  const std::string name = variant.empty() ? problem.name() : problem.name() + ", " + variant;
  auto r = p.measure(name, problem.operations(),
                     [&]() -> double { return run([&] { return timed(problem, root); }); });
  done(r);
  p.report(std::move(r));
}

template <fork_join_problem Problem, class Root, class Run>
void measure(const program &p, const Problem &problem, Root root, Run run) {
  measure(p, problem, "", root, run, [](result &) {});
}

} // namespace bench

#endif
