// The kernel as printed, and row by row, by one kernel thread.
#include "livermore/loop21.hpp"
#include "livermore/workload.hpp"

int main(int argc, char **argv) {
  namespace lm = bench::livermore;
  lm::workload<lm::loop21> w("serial");
  const auto &o = w.parse(argc, argv);
  lm::loop21 loop(o.n);

  w.report(lm::measure(w, loop, "as printed", [&] { return lm::timed([&] { loop.kernel_order(0, o.n); }); }));
  w.report(lm::measure(w, loop, "by rows", [&] {
    return lm::timed([&] {
      for (long j = 0; j < o.n; ++j)
        loop.row(j);
    });
  }));
}
