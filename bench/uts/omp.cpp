// OpenMP tasks; compiled twice, for GNU's run-time and for LLVM's.
#include "common/omp_side.hpp"
#include "uts/workload.hpp"

namespace {

uts_count visit(const uts_node &node) {
  const int n = uts_children(&node);
  if (n == 0)
    return {1, 1, node.depth};
  bench::uts::child_array<uts_count> below(n);
  for (int i = 0; i < n; ++i) {
    uts_count *const slot = &below[i];
#pragma omp task shared(node) firstprivate(i, slot)
    *slot = visit(uts_child(&node, i));
  }
#pragma omp taskwait
  return bench::uts::sum_of(node, below.begin(), n);
}

} // namespace

int main(int argc, char **argv) {
  bench::program p(bench::uts::name, BENCH_COMPETITOR, bench::uts::default_n);
  const auto &o = p.parse(argc, argv);
  const bench::omp_side team(o.workers);
  for (const auto &problem : bench::uts::up_to(o.n))
    bench::measure(
        p, problem, [](const auto &q) { return visit(q.root()); },
        [&](auto master) { return team.run(master); });
}
