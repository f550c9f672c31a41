// The calls alone.
#include "uts/workload.hpp"

namespace {

uts_count visit(const uts_node &node) {
  uts_count sum{1, 0, node.depth};
  const int n = uts_children(&node);
  sum.leaves = n == 0;
  for (int i = 0; i < n; ++i) {
    const uts_count below = visit(uts_child(&node, i));
    uts_add(&sum, &below);
  }
  return sum;
}

} // namespace

int main(int argc, char **argv) {
  bench::program p(bench::uts::name, "serial", bench::uts::default_n);
  const auto &o = p.parse(argc, argv);
  bench::pin_self(0);
  for (const auto &problem : bench::uts::up_to(o.n))
    bench::measure(
        p, problem, [](const auto &q) { return visit(q.root()); }, [](auto master) { return master(); });
}
