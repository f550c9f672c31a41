#include "common/nth_side.hpp"
#include "empty/nth_batch_master.h"
#include "empty/workload.hpp"

int main(int argc, char **argv) {
  bench::empty::workload w("nth-batch", bench::empty::default_n);
  bench::nth_side nth(w);
  long batch = 8; // as in the paper, section 5
  w.option("--batch", batch, "threads of a batch");
  const auto &o = w.parse(argc, argv);
  if (batch < 1)
    bench::fail("--batch: not less than 1");

  nth.start(o.workers);
  auto r = bench::empty::measure(w, o.n, [batch](long n, long window) {
    empty_order order{n, window, 0};
    if (const nth_status s = nth_run(empty_batch_master, 2, &order, batch); s != NTH_OK)
      bench::fail(nth_strstatus(s));
    return order.ns;
  });
  r.count("batch", batch);
  nth.counts(r);
  nth.stop();
  w.report(r);
}
