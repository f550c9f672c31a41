#include "common/tbb_side.hpp"
#include "empty/workload.hpp"

#include <tbb/task_group.h>

int main(int argc, char **argv) {
  bench::empty::workload w("onetbb", bench::empty::default_n);
  const auto &o = w.parse(argc, argv);
  bench::tbb_side tbb_run(o.workers);

  w.report(bench::empty::measure(w, o.n, [&](long n, long window) {
    return tbb_run.run([=] {
      return bench::empty::timed(n, window, [](long count) {
        tbb::task_group group;
        for (long i = 0; i < count; ++i)
          group.run([i] { empty_root(i, 0); });
        group.wait();
      });
    });
  }));
}
