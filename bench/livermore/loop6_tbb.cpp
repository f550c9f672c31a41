// No partitioner promises an order, so each index stands for the next row that nobody has begun: a row waits for
// rows only that a kernel thread is running.
#include "common/tbb_side.hpp"
#include "livermore/loop6.hpp"
#include "livermore/workload.hpp"

#include <tbb/parallel_for.h>
#include <tbb/task_group.h>

namespace lm = bench::livermore;

int main(int argc, char **argv) {
  lm::workload<lm::loop6> w("onetbb");
  const auto &o = w.parse(argc, argv);
  lm::loop6 loop(o.n);
  bench::tbb_side tbb_run(o.workers);
  const tbb::blocked_range<long> rows(1, o.n);

  const auto run = [&](const char *variant, auto work) {
    w.report(lm::measure(w, loop, variant, [&] { return tbb_run.run([&] { return lm::timed(work); }); }));
  };
  const auto some = [&](const tbb::blocked_range<long> &piece) {
    for (long i = piece.begin(); i < piece.end(); ++i)
      loop.next_row();
  };
  run("parallel_for, auto", [&] { tbb::parallel_for(rows, some, tbb::auto_partitioner()); });
  run("parallel_for, grain 1", [&] { tbb::parallel_for(rows, some, tbb::simple_partitioner()); });
  run("tasks", [&] {
    tbb::task_group group;
    for (long i = 1; i < o.n; ++i)
      group.run([&loop] { loop.next_row(); });
    group.wait();
  });
}
