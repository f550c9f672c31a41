// Need of each function: the longest path through the call graph (paper 002, figure 1(c)), as the program stands
// and as it would be with a stub on every back edge.
#pragma once

#include "graph/call_graph.hpp"
#include "notes/annotations.hpp"

namespace nth::stack {

enum class certainty : std::uint8_t { proved, assumed, unbounded };

inline constexpr std::int64_t no_need = -1;
inline constexpr std::int64_t largest_need = std::int64_t{1} << 60; // what needs as much counts as unbounded
inline constexpr std::size_t max_assumptions = 16;                  // listed for a function
inline constexpr std::uint32_t no_call = ~std::uint32_t{0};

struct chain_link {
  std::uint32_t node = 0;
  address at = 0;         // of the call that leads to the next link; 0 at the last
  std::int64_t depth = 0; // at that call; at the last link: what the function itself touches
};

struct node_need {
  std::int64_t need =
      no_need; // bytes below the CFA, return address included, as the program stands; no_need: unbounded
  std::int64_t segment =
      no_need; // the same if each back edge had a stub (figure 1(c)); no_need: not even then
  certainty sure = certainty::proved; // of need
  std::string reason;                 // unbounded: why, in words
  std::vector<std::uint32_t>
      assumptions;               // assumed: indexes in need_table::assumptions, the first max_assumptions
  bool more_assumptions = false; // there are others that are not listed
  bool may_block = false;        // can reach a blocking call of nth
  bool in_cycle = false;         // of calls that can grow the stack; one of tail calls alone cannot
};

struct need_table {
  std::vector<node_need> needs;         // one for each node
  std::vector<std::string> assumptions; // of graph and annotations
  std::vector<std::uint32_t>
      component;          // of each node: its strongly connected component, callees before callers
  std::vector<bool> back; // of each edge of the graph: it closes a cycle
  std::vector<std::string> unused_notes; // annotations that matched nothing, or that are not needed, and why

  // What the annotations made of the graph. Below, a call is an index: in call_graph::edges, or, from their number
  // on, in `added`.
  std::vector<call_edge> added; // calls that annotations name or change, sorted by caller
  std::vector<bool> added_back; // of each of these, as `back`
  std::vector<bool>
      dropped; // of each edge of the graph: an annotation says that it is never taken, or changes it
  std::vector<bool> closed; // of each node: an annotation tells its need, and its calls do not count for that
  std::vector<std::int64_t> touched; // of each node: what it takes itself; no_need: no bound
  std::vector<std::uint32_t>
      to_cause; // of each unbounded node: the next call towards `reason`; no_call: it is here
  std::vector<std::uint32_t>
      to_block; // of each node that may block: the next call on the way; no_call: it does
};

// Calls that lead through stubs, which see to the callee's need (paper 002, figure 1(d)): the caller is charged for the
// stub alone.
struct stub_places {
  std::vector<bool> calls;    // of each edge of the graph: a stub stands at the call
  std::vector<bool> entries;  // of each node: all pointers to it lead to a stub
  std::vector<bool> possible; // of each edge of the graph: a stub may stand at the call
  std::int64_t charge = 0;    // bytes, with the return address
};

// `g` is sorted. `stubs`: none if null.
need_table solve(const call_graph &g, const annotations &notes, const stub_places *stubs = nullptr);

// Of one more call, as call_graph::edges and need_table::added together count them.
const call_edge &call_at(const call_graph &g, const need_table &t, std::uint32_t call);
bool is_back(const call_graph &g, const need_table &t, std::uint32_t call);

// The calls that make up the need of `node`, or, of an unbounded one, that lead to what has no bound (a cycle: until
// the first function that comes twice). Ends with the deepest function. Of a recursion whose depth an annotation
// bounds one turn is shown at most: its links do not add up to the need.
std::vector<chain_link> worst_chain(const call_graph &g, const need_table &t, std::uint32_t node);
// The calls that lead to a blocking call of nth; empty: none.
std::vector<chain_link> blocking_chain(const call_graph &g, const need_table &t, std::uint32_t node);

// What a stub on a back edge has to provide so that it switches once in `turns` turns of the cycle (paper 002, figure
// 1(d) for one turn, 1(e) for more); no_need: has no bound.
std::int64_t stub_need(const call_graph &g, const need_table &t, std::uint32_t call, std::int64_t turns);

// Table 1 of the paper, for one module or, with an empty name, all.
// Of call instructions: those that close a cycle, and the rest of the direct ones, and those through pointers.
struct call_counts {
  std::size_t procedures = 0, call_sites = 0, back_edges = 0, forward_edges = 0, indirect_calls = 0;
  std::size_t proved = 0, assumed = 0, unbounded = 0;
};
call_counts count_calls(const call_graph &g, const need_table &t, std::string_view module);

} // namespace nth::stack
