// The call graph as the solver walks it: annotations applied, only what counts of each call, callees one after another.
#pragma once

#include "graph/components.hpp"
#include "graph/solve_notes.hpp"

namespace nth::stack {

struct live_call {
  std::uint32_t callee = 0;
  std::uint32_t call = 0; // its index, see need_table::added
  std::int64_t depth = 0; // never below 0
  std::uint32_t assumption = 0;
  bool cold = false;
  bool can_cut =
      false; // a stub can stand here. Not at a jump, and not where any of a set is called: the stubs stand
             // at the members, whose addresses the pointers hold
};

enum class cause : std::uint8_t { none, frame, open, recursion, too_deep };

struct solver_view {
  const call_graph &graph;
  noted_graph notes;
  std::vector<std::uint32_t> first; // one more than nodes
  std::vector<live_call> calls;
  std::vector<std::int64_t> touched; // by the node itself; all it needs where `closed`; no_need: no bound
  std::vector<cause> why;            // why the node has no bound by itself; none: it has
  std::vector<bool> closed;          // its need is told by a note: its calls count for blocking alone
  std::vector<std::uint32_t> open;   // of each node: its first open call; no_call

  solver_view(const call_graph &g, const annotations &list, const stub_places *stubs = nullptr);

  [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(touched.size()); }
  [[nodiscard]] std::span<const live_call> all_calls_of(std::uint32_t node) const noexcept {
    return {calls.data() + first[node], first[node + 1] - first[node]};
  }
  [[nodiscard]] std::span<const live_call> calls_of(std::uint32_t node) const noexcept {
    return closed[node] ? std::span<const live_call>() : all_calls_of(node);
  }

private:
  void take_calls(const stub_places *stubs);
  void take_nodes();
  void charge_stub(const call_edge &e, std::int64_t charge);
};

// Sums of depths. What would exceed largest_need is largest_need.
inline std::int64_t add_depths(std::int64_t a, std::int64_t b) noexcept {
  return a >= largest_need - b ? largest_need : a + b;
}

} // namespace nth::stack
