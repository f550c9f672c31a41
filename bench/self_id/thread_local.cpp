#include "self_id/accessor.h"
#include "self_id/workload.hpp"

int main(int argc, char **argv) {
  bench::program p(bench::self_id::name, "thread_local", bench::self_id::default_n);
  const auto &o = p.parse(argc, argv);
  p.report(p.measure("linked in", o.n, [&] { return bench::self_id::timed(o.n, tls_self_linked); }));
  p.report(p.measure("shared library", o.n, [&] { return bench::self_id::timed(o.n, tls_self_shared); }));
}
