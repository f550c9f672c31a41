#include "plan/stack_arguments.hpp"

#include <algorithm>

namespace nth::stack {

std::vector<std::int64_t> argument_bytes(const patched_program &program, const call_graph &g) {
  std::vector<std::int64_t> bytes(g.nodes.size());
  for (std::uint32_t n = 0; n < g.nodes.size(); ++n)
    if (const function_facts *facts = program.facts_of(n))
      bytes[n] = facts->arguments;
    else if (!g.nodes[n].is_set)
      bytes[n] = unknown_arguments;
  for (const open_call &o : g.open)
    bytes[o.caller] = unknown_arguments;
  // Who jumps to a function leaves it its own arguments. Values only grow, and are few: this ends soon.
  for (bool more = true; more;) {
    more = false;
    for (const call_edge &e : g.edges) {
      const bool jump = e.kind == edge_kind::tail || e.kind == edge_kind::indirect_tail;
      std::int64_t &own = bytes[e.caller];
      const std::int64_t callee = bytes[e.callee];
      if (!jump || own == unknown_arguments || (callee != unknown_arguments && callee <= own))
        continue;
      own = callee;
      more = true;
    }
  }
  return bytes;
}

} // namespace nth::stack
