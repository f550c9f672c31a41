// The same recursion in nth's own threads: its scheduler, its switches, its memory.
#include "common/nth_side.hpp"
#include "task_memory/nth_fib.h"
#include "task_memory/workload.hpp"

#include <functional>

namespace {

struct order {
  long number, runs;
  std::vector<fib_count> counts; // one a worker
  std::function<void(const bench::task_memory::outcome &)> each;

  long run() const {
    long sum = 0;
    for (const fib_count &c : counts)
      sum += c.runs;
    return sum;
  }
};

void master(order *o) {
  for (long i = 0; i < o->runs; ++i) {
    const long before = o->run();
    const double begin = bench::now_ns();
    const long value = nth_fib(o->number, o->counts.data());
    const double ns = bench::now_ns() - begin;
    o->each({value, o->run() - before, ns});
  }
}

} // namespace

int main(int argc, char **argv) {
  namespace task_memory = bench::task_memory;
  bench::program p(task_memory::name, bench::nth_competitor(), task_memory::default_n);
  bench::nth_side nth(p);
  const auto &o = p.parse(argc, argv);

  nth.start(o.workers);
  order all{};
  all.counts.resize(static_cast<std::size_t>(o.workers));
  task_memory::measure_fib(p, o, [&](long number, long runs, auto each) {
    all.number = number;
    all.runs = runs;
    all.each = each;
    if (const nth_status s = nth_run(master, 1, &all); s != NTH_OK)
      bench::fail(nth_strstatus(s));
  });
  nth.stop(); // refuses while a thread is alive
}
