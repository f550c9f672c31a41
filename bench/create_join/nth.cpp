#include "common/nth_side.hpp"
#include "create_join/nth_master.h"
#include "create_join/workload.hpp"

namespace {

void master(long n, double *ns) {
  const double begin = bench::now_ns();
  create_join_master(n);
  *ns = bench::now_ns() - begin;
}

} // namespace

int main(int argc, char **argv) {
  bench::program p(bench::create_join::name, bench::nth_competitor(), bench::create_join::default_n);
  bench::nth_side nth(p);
  const auto &o = p.parse(argc, argv);

  nth.start(o.workers);
  auto r = bench::create_join::measure(p, o.n, [](long n) {
    double ns = 0;
    if (const nth_status s = nth_run(master, 2, n, &ns); s != NTH_OK)
      bench::fail(nth_strstatus(s));
    return ns;
  });
  nth.counts(r);
  nth.stop();
  p.report(r);
}
