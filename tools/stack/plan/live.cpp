#include "plan/live.hpp"

#include "graph/blocking.hpp"

#include <algorithm>

namespace nth::stack {

namespace {

bool suspends(const call_node &n) {
  return is_blocking_call(n.symbol) || std::any_of(n.aliases.begin(), n.aliases.end(), is_blocking_call);
}

} // namespace

std::vector<suspending_call> find_suspending_calls(const patched_program &program, const call_graph &g) {
  // Of each function: what those who may have called it read when it returns. A thread's root is called by what reads
  // nothing.
  std::vector<kept_registers> above(g.nodes.size(), 0);
  const auto live_at = [&](const call_edge &e, kept_registers own) {
    const function_facts *f = program.facts_of(e.caller);
    return static_cast<kept_registers>(own |
                                       (f != nullptr ? f->untouched & above[e.caller] : above[e.caller]));
  };
  const auto at_call = [&](const call_edge &e) -> kept_registers {
    if (g.nodes[e.caller].is_set)
      return above[e.caller];
    if (!program.is_patched(e.caller)) // a library's, or nth's own: it calls roots, and reads nothing then
      return g.nodes[e.caller].module.starts_with("libnth") ||
                     g.nodes[e.caller].module == program.image().name
                 ? kept_registers{0}
                 : all_kept;
    const bool jump = e.kind == edge_kind::tail || e.kind == edge_kind::indirect_tail;
    const call_site *s = program.call_of(e);
    return jump ? above[e.caller] : live_at(e, s != nullptr ? s->live : all_kept);
  };
  for (bool more = true; more;) {
    more = false;
    for (const call_edge &e : g.edges) {
      const auto now = static_cast<kept_registers>(above[e.callee] | at_call(e));
      more = more || now != above[e.callee];
      above[e.callee] = now;
    }
  }
  std::vector<suspending_call> found;
  for (const call_edge &e : g.edges) {
    const call_site *s = program.call_of(e);
    if (s != nullptr && suspends(g.nodes[e.callee]))
      found.push_back({e.caller, e.at, s->live, live_at(e, s->live)});
  }
  return found;
}

} // namespace nth::stack
