#include "graph/blocking.hpp"

#include <algorithm>
#include <array>

namespace nth::stack {

namespace {

// nth.h, spawn.h, loop.h, iso.h; Fortran has the same names (bind(C)). Enqueueing suspends above NTH_BACKLOG waiting
// threads, by nth_make_way; allocation where a rank buys slots from others. nth_pick_yield is what nth_yield_inline calls.
// nth_run and nth_finalize, which wait too, refuse to run in a thread. Sorted.
constexpr std::array<std::string_view, 15> blocking = {
    "nth_batch_to_lrq", "nth_batch_to_lrq_end", "nth_block",      "nth_isoaligned_alloc", "nth_isocalloc",
    "nth_isomalloc",    "nth_isorealloc",       "nth_make_way",   "nth_parallel_for",     "nth_pick_yield",
    "nth_sync",         "nth_to_lrq",           "nth_to_lrq_end", "nth_try_block",        "nth_yield"};
static_assert(std::is_sorted(blocking.begin(), blocking.end()));

bool callees_are_unknown(const solver_view &v, std::uint32_t node) {
  const call_node &n = v.graph.nodes[node];
  return v.open[node] != no_call || (!n.is_set && n.bound == frame_bound::unbounded && hides_code(n.reason));
}

} // namespace

bool is_blocking_call(std::string_view symbol) noexcept {
  return std::binary_search(blocking.begin(), blocking.end(), symbol);
}

std::vector<bool> blocking_nodes(const solver_view &v) {
  std::vector<bool> result(v.size());
  bool any = false;
  for (std::uint32_t n = 0; n < v.size(); ++n) {
    const call_node &node = v.graph.nodes[n];
    if (!node.is_set && (is_blocking_call(node.symbol) ||
                         std::any_of(node.aliases.begin(), node.aliases.end(), is_blocking_call)))
      any = result[n] = true;
  }
  for (const std::uint32_t n : v.notes.blocking)
    any = result[n] = true;
  for (std::uint32_t n = 0; any && n < v.size(); ++n)
    if (callees_are_unknown(v, n))
      result[n] = true;
  return result;
}

} // namespace nth::stack
