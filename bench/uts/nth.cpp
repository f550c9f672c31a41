#include "common/nth_side.hpp"
#include "common/spawned_array.hpp"
#include "uts/nth_visit.h"
#include "uts/workload.hpp"

namespace {

uts_count visit(const uts_node &node);

auto child(const uts_node &node, int i) {
  return [&node, i] { return visit(uts_child(&node, i)); };
}

// Apart, so that the frame of a visit to a leaf is small.
[[gnu::noinline]] uts_count visit_children(const uts_node &node, int n) {
  bench::spawned_array<decltype(child(node, 0)), UTS_IN_FRAME> tasks(n);
  for (int i = 0; i < n; ++i)
    tasks.spawn(child(node, i));
  uts_count sum{1, 0, node.depth};
  while (!tasks.empty()) {
    const uts_count below = tasks.sync_last();
    uts_add(&sum, &below);
  }
  return sum;
}

uts_count visit(const uts_node &node) {
  const int n = uts_children(&node);
  return n > 0 ? visit_children(node, n) : uts_count{1, 1, node.depth};
}

} // namespace

int main(int argc, char **argv) {
  bench::program p(bench::uts::name, bench::nth_competitor(), bench::uts::default_n);
  bench::nth_side nth(p);
  const auto &o = p.parse(argc, argv);
  nth.start(o.workers);

  const auto run = [&](auto master) { return nth.run(master); };
  const auto counts = [&](bench::result &r) { nth.counts(r); };
  const auto c = [](const auto &q) {
    const uts_node root = q.root();
    return visit_nth(&root);
  };
  for (const auto &problem : bench::uts::up_to(o.n)) {
    bench::measure(p, problem, "C", c, run, counts);
    bench::measure(
        p, problem, "C++", [](const auto &q) { return visit(q.root()); }, run, counts);
  }
  nth.stop();
}
