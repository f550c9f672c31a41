#include "common/nth_side.hpp"
#include "empty/nth_master.h"
#include "empty/workload.hpp"

int main(int argc, char **argv) {
  bench::empty::workload w(bench::nth_competitor(), bench::empty::default_n);
  bench::nth_side nth(w);
  const auto &o = w.parse(argc, argv);

  nth.start(o.workers);
  auto r = bench::empty::measure(w, o.n, [](long n, long window) {
    empty_order order{n, window, 0};
    if (const nth_status s = nth_run(empty_master, 1, &order); s != NTH_OK)
      bench::fail(nth_strstatus(s));
    return order.ns;
  });
  nth.counts(r);
  nth.stop();
  w.report(r);
}
