#include "common/tbb_side.hpp"
#include "livermore/loop21.hpp"
#include "livermore/workload.hpp"

#include <tbb/parallel_for.h>
#include <tbb/task_group.h>

namespace lm = bench::livermore;

int main(int argc, char **argv) {
  lm::workload<lm::loop21> w("onetbb");
  const auto &o = w.parse(argc, argv);
  lm::loop21 loop(o.n);
  bench::tbb_side tbb_run(o.workers);

  const auto run = [&](const char *variant, auto work) {
    w.report(lm::measure(w, loop, variant, [&] { return tbb_run.run([&] { return lm::timed(work); }); }));
  };
  const auto some = [&](const tbb::blocked_range<long> &piece) {
    for (long j = piece.begin(); j < piece.end(); ++j)
      loop.row(j);
  };
  const auto rows = [&](std::size_t grain) { return tbb::blocked_range<long>(0, o.n, grain); };
  run("parallel_for, auto", [&] { tbb::parallel_for(rows(1), some, tbb::auto_partitioner()); });
  run("parallel_for, grain 1", [&] { tbb::parallel_for(rows(1), some, tbb::simple_partitioner()); });
  run("parallel_for, grain 8", [&] { tbb::parallel_for(rows(8), some, tbb::simple_partitioner()); });
  run("tasks", [&] {
    tbb::task_group group;
    for (long j = 0; j < o.n; ++j)
      group.run([&loop, j] { loop.row(j); });
    group.wait();
  });
}
