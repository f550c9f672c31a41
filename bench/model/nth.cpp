// T_P for threads that do nothing and for threads that work for a time T_W: what the model is held against.
#include "common/nth_side.hpp"
#include "empty/root.h"
#include "model/master.h"
#include "ops/side.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

// ns; the finest first. Fine grain ends where T_L + T_S + T_W + T_T reaches (P - 1) (T_C + T_E).
constexpr long works[] = {0, 50, 100, 200, 500, 1'000, 2'000, 5'000, 10'000};
// Long repetitions seldom have their cores to themselves.
constexpr double longest_ns = 5e6;

// What a call of the root takes beside the time that it counts, in ticks. Median of short phases.
double beside_work(long work) {
  constexpr long calls = 100;
  std::vector<double> found;
  for (int i = 0; i < 101; ++i) {
    const std::uint64_t before = model_worked();
    const std::uint64_t taken = model_work(calls, work);
    found.push_back(static_cast<double>(taken - (model_worked() - before)) / calls);
  }
  return bench::median(found);
}

struct repetition {
  double total, create, work; // ticks a thread
  bool disturbed;
};

repetition once(long n, long work, bool meet) {
  const long runs_before = empty_runs();
  const std::uint64_t worked_before = model_worked();
  model_order order{n, work, meet, 0, 0, 0};
  if (const nth_status s = nth_run(model_master, 1, &order); s != NTH_OK)
    bench::fail(nth_strstatus(s));
  if (const long runs = empty_runs() - runs_before; runs != n)
    bench::fail("model: " + std::to_string(runs) + " threads ran, not " + std::to_string(n));
  const auto each = [n](std::uint64_t t) { return static_cast<double>(t) / static_cast<double>(n); };
  return {each(order.total), each(order.create), each(model_worked() - worked_before), order.disturbed != 0};
}

} // namespace

int main(int argc, char **argv) {
  bench::program p("model", "nth", bench::ops::default_n);
  bench::nth_side nth(p);
  p.defaults(49, 5);
  const auto &o = p.parse(argc, argv);
  setenv("NTH_BACKLOG", "0", 0); // the paper's creator never makes way
  nth.start(o.workers);
  const double ns = bench::ops::ns_of_a_tick();
  const bool a_core_each = static_cast<std::size_t>(o.workers) <= bench::usable_cores().size();

  for (const long work : works) {
    const long ticks_of_work = std::lround(static_cast<double>(work) / ns);
    const long n = work == 0 ? o.n : std::min(o.n, std::lround(longest_ns / static_cast<double>(work)));
    const double beside = beside_work(ticks_of_work);
    std::vector<double> create, worked;
    long disturbed = 0;
    auto r = p.measure("T_W " + std::to_string(work), n, [&] {
      repetition one{};
      long again = a_core_each ? bench::ops::repetitions_again : 0;
      do
        one = once(n, ticks_of_work, a_core_each);
      while (one.disturbed && again-- > 0);
      disturbed += one.disturbed ? 1 : 0;
      create.push_back(one.create * ns);
      worked.push_back((one.work + beside) * ns);
      return one.total * ns * static_cast<double>(n);
    });
    r.count("work_ns", bench::median(worked));
    r.count("create_ns", bench::median(create));
    r.count("disturbed", disturbed); // repetitions; those that do not count included
    p.report(std::move(r));
  }
  nth.stop();
}
