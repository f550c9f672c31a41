#include "common/tbb_side.hpp"
#include "create_join/workload.hpp"

#include <tbb/task_group.h>

int main(int argc, char **argv) {
  bench::program p(bench::create_join::name, "onetbb", bench::create_join::default_n);
  const auto &o = p.parse(argc, argv);
  bench::tbb_side tbb_run(o.workers);

  p.report(bench::create_join::measure(p, o.n, [&](long n) {
    return tbb_run.run([=] {
      tbb::task_group group;
      return bench::create_join::timed(n, [&](long i) {
        group.run([i] { empty_root(i, 0); });
        group.wait();
      });
    });
  }));
}
