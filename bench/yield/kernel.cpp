// sched_yield between two kernel threads that are pinned to one core.
#include "yield/workload.hpp"

#include <thread>
#include <vector>

#include <sched.h>

using bench::yielding::sites;

int main(int argc, char **argv) {
  bench::program p(bench::yielding::name, "kernel", 100'000);
  const auto &o = p.parse(argc, argv);

  p.report(bench::yielding::measure(p, o, "one call site", sites::one, [&](sites which, long each) {
    const double begin = bench::now_ns();
    std::vector<std::thread> all;
    for (long id = 0; id < bench::yielding::threads(o); ++id)
      all.emplace_back([which, id, each] {
        bench::pin_self(id / 2);
        bench::yielding::loop(which, id, each, [] { sched_yield(); });
      });
    for (auto &t : all)
      t.join();
    return bench::now_ns() - begin;
  }));
}
