#include "common/nth_side.hpp"
#include "self_id/workload.hpp"

namespace {

void asker(long n, double *ns) {
  *ns = bench::self_id::timed(n, [] { return nth_self(); });
}

} // namespace

int main(int argc, char **argv) {
  bench::program p(bench::self_id::name, bench::nth_competitor(), bench::self_id::default_n);
  bench::nth_side nth(p);
  const auto &o = p.parse(argc, argv);

  nth.start(o.workers);
  auto r = p.measure("", o.n, [&] {
    double ns = 0;
    if (const nth_status s = nth_run(asker, 2, o.n, &ns); s != NTH_OK)
      bench::fail(nth_strstatus(s));
    return ns;
  });
  nth.counts(r);
  nth.stop();
  p.report(r);
}
