#include "common/tbb_side.hpp"
#include "uts/workload.hpp"

#include <tbb/task_group.h>

namespace {

uts_count visit(const uts_node &node) {
  const int n = uts_children(&node);
  if (n == 0)
    return {1, 1, node.depth};
  bench::uts::child_array<uts_count> below(n);
  tbb::task_group group;
  for (int i = 0; i < n; ++i)
    group.run([&node, i, slot = &below[i]] { *slot = visit(uts_child(&node, i)); });
  group.wait();
  return bench::uts::sum_of(node, below.begin(), n);
}

} // namespace

int main(int argc, char **argv) {
  bench::program p(bench::uts::name, "onetbb", bench::uts::default_n);
  const auto &o = p.parse(argc, argv);
  bench::tbb_side tbb_run(o.workers);
  for (const auto &problem : bench::uts::up_to(o.n))
    bench::measure(
        p, problem, [](const auto &q) { return visit(q.root()); },
        [&](auto master) { return tbb_run.run(master); });
}
