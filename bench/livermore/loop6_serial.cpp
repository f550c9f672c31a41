// The kernel as printed, and rows in the order of summation of the parallel form, by one kernel thread.
#include "livermore/loop6.hpp"
#include "livermore/workload.hpp"

int main(int argc, char **argv) {
  namespace lm = bench::livermore;
  lm::workload<lm::loop6> w("serial");
  const auto &o = w.parse(argc, argv);
  lm::loop6 loop(o.n);

  // Its last bits are of the other order: the constructor has compared them within the tolerance.
  w.report(w.measure("as printed", loop.rows(), [&] {
    loop.reset();
    return lm::timed([&] { loop.as_printed(); });
  }));
  w.report(lm::measure(w, loop, "parallel form", [&] {
    return lm::timed([&] {
      for (long i = 1; i < o.n; ++i)
        loop.row(i);
    });
  }));
}
