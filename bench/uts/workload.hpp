// uts: Unbalanced Tree Search, a task for each node of a tree that nobody knows before it is visited; ns a node.
// A task makes its node, spawns one for each child, and counts.
#ifndef NTH_BENCH_UTS_WORKLOAD_HPP
#define NTH_BENCH_UTS_WORKLOAD_HPP

#include "common/fork_join.hpp"
#include "uts/tree.h"

#include <memory>
#include <string>
#include <vector>

inline bool operator==(const uts_count &a, const uts_count &b) {
  return a.nodes == b.nodes && a.leaves == b.leaves && a.depth == b.depth;
}

namespace bench::uts {

inline constexpr const char *name = "uts";
inline constexpr long default_n = 4'200'000;

// T1 and T3 with the counts that were published with them (sample_trees.sh of UTS 2.1). The small ones are the same
// with another depth and another q; their counts are those of `uts_serial`.
inline constexpr uts_tree trees[] = {
    {"T1", UTS_GEOMETRIC_FIXED, 4, 10, 0, 0, 19, 4'130'071, 3'305'118, 10},
    {"T3", UTS_BINOMIAL, 2000, 0, 0.124875, 8, 42, 4'112'897, 3'599'034, 1572},
    {"T1 to depth 8", UTS_GEOMETRIC_FIXED, 4, 8, 0, 0, 19, 257'042, 205'878, 8},
    {"T3 with q 0.1235", UTS_BINOMIAL, 2000, 0, 0.1235, 8, 42, 391'273, 342'613, 333},
};

struct problem {
  const uts_tree *tree;

  std::string name() const { return tree->name; }
  long operations() const { return tree->nodes; }
  uts_count answer() const { return {tree->nodes, tree->leaves, tree->depth}; }
  uts_node root() const { return uts_root(tree); }
};

// Those with n nodes or fewer, but more than a tenth of that.
inline std::vector<problem> up_to(long n) {
  std::vector<problem> found;
  for (const uts_tree &t : trees)
    if (t.nodes <= n && t.nodes > n / 10)
      found.push_back({&t});
  if (found.empty())
    fail("uts: no tree of " + std::to_string(n) + " nodes or a little fewer");
  return found;
}

// One object for each child.
template <class T>
class child_array {
public:
  explicit child_array(int n)
      : at(n <= UTS_IN_FRAME ? frame : (heap = std::make_unique<T[]>(static_cast<std::size_t>(n))).get()) {}
  T &operator[](int i) { return at[i]; }
  T *begin() { return at; }

private:
  T frame[UTS_IN_FRAME];
  std::unique_ptr<T[]> heap;
  T *at;
};

// The node itself and what was counted of its children.
inline uts_count sum_of(const uts_node &node, const uts_count *children, int n) {
  uts_count sum{1, n == 0, node.depth};
  for (int i = 0; i < n; ++i)
    uts_add(&sum, &children[i]);
  return sum;
}

} // namespace bench::uts

#endif
