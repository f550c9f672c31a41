#include "graph/solve_view.hpp"

#include <algorithm>

namespace nth::stack {

namespace {

bool is_jump(edge_kind k) noexcept { return k == edge_kind::tail || k == edge_kind::indirect_tail; }

std::int64_t within_limits(std::int64_t bytes) noexcept {
  return std::clamp<std::int64_t>(bytes, 0, largest_need);
}

} // namespace

solver_view::solver_view(const call_graph &g, const annotations &list, const stub_places *stubs)
    : graph(g), notes(apply(g, list)) {
  take_nodes();
  take_calls(stubs);
}

void solver_view::take_nodes() {
  const std::size_t n = graph.nodes.size();
  touched.resize(n);
  why.assign(n, cause::none);
  closed.assign(n, false);
  open.assign(n, no_call);
  for (std::size_t i = graph.open.size(); i-- > 0;)
    if (!notes.dropped_open[i])
      open[graph.open[i].caller] = static_cast<std::uint32_t>(i);

  for (std::uint32_t i = 0; i < n; ++i) {
    const call_node &node = graph.nodes[i];
    touched[i] = node.is_set ? 0 : within_limits(std::max(node.frame, node.touched));
    if (!node.is_set && node.bound == frame_bound::unbounded)
      why[i] = cause::frame;
    if (const auto frame = notes.frame.find(i); frame != notes.frame.end()) {
      touched[i] = within_limits(frame->second);
      if (!hides_code(node.reason))
        why[i] = cause::none;
    }
    if (why[i] == cause::none && open[i] != no_call)
      why[i] = cause::open;
    if (const auto need = notes.need.find(i); need != notes.need.end()) {
      touched[i] = within_limits(need->second);
      why[i] = cause::none;
      closed[i] = true;
    }
    if (why[i] == cause::none && touched[i] == largest_need)
      why[i] = cause::too_deep;
    if (why[i] == cause::frame || why[i] == cause::too_deep)
      touched[i] = no_need;
  }
}

// What the stub takes on the caller's stack counts as the caller's own.
void solver_view::charge_stub(const call_edge &e, std::int64_t charge) {
  std::int64_t &own = touched[e.caller];
  if (own == no_need || closed[e.caller])
    return;
  own = std::max(own, add_depths(within_limits(e.depth), charge));
  if (own == largest_need) {
    why[e.caller] = cause::too_deep;
    own = no_need;
  }
}

void solver_view::take_calls(const stub_places *stubs) {
  const auto n = static_cast<std::uint32_t>(graph.nodes.size());
  first.assign(n + 1, 0);
  calls.reserve(graph.edges.size() + notes.added.size());

  const auto take = [&](const call_edge &e, std::uint32_t call) {
    bool possible = true;
    if (stubs != nullptr) {
      possible = call < stubs->possible.size() && stubs->possible[call];
      const bool at_call = call < stubs->calls.size() && stubs->calls[call];
      const bool at_entry = stubs->entries[e.callee];
      if (at_call || at_entry)
        charge_stub(e, stubs->charge);
      const bool by_pointer =
          e.kind == edge_kind::indirect || e.kind == edge_kind::indirect_tail || graph.nodes[e.caller].is_set;
      // A direct call may reach an entry through the loader's pointers (an ifunc) or past them: both are charged.
      if (at_call || (at_entry && by_pointer))
        return;
    }
    calls.push_back({.callee = e.callee,
                     .call = call,
                     .depth = within_limits(e.depth),
                     .assumption = e.assumption,
                     .cold = e.cold,
                     .can_cut = possible && !is_jump(e.kind) && !graph.nodes[e.callee].is_set});
  };

  std::size_t next_added = 0;
  for (std::uint32_t node = 0; node < n; ++node) {
    for (std::uint32_t e = graph.first_edge[node]; e < graph.first_edge[node + 1]; ++e)
      if (!notes.dropped[e])
        take(graph.edges[e], e);
    for (; next_added < notes.added.size() && notes.added[next_added].caller == node; ++next_added)
      take(notes.added[next_added], static_cast<std::uint32_t>(graph.edges.size() + next_added));
    first[node + 1] = static_cast<std::uint32_t>(calls.size());
  }
}

} // namespace nth::stack
