// What annotations change in a call graph: each is looked up among the nodes, and written down as calls that are
// never taken, calls that come in place of others, and numbers for single functions.
#pragma once

#include "graph/solve.hpp"

#include <unordered_map>
#include <utility>

namespace nth::stack {

struct noted_graph {
  std::vector<std::string> assumptions; // of the graph, then those of notes that are used and not checked
  std::vector<std::string> unused;
  std::vector<bool> dropped;                               // of each edge
  std::vector<call_edge> added;                            // sorted by caller, then by address
  std::vector<bool> dropped_open;                          // of each open call
  std::unordered_map<std::uint32_t, std::int64_t> need;    // of the whole of it, callees included
  std::unordered_map<std::uint32_t, std::int64_t> frame;   // its own
  std::unordered_map<std::uint32_t, std::int64_t> entered; // at most so often on one stack
  std::unordered_map<std::uint32_t, std::string>
      depth_notes; // by which note: named if the function is not recursive
  std::vector<std::uint32_t> blocking;
  std::vector<std::pair<std::uint32_t, std::uint32_t>>
      resting; // node, and an assumption that its need rests on
};

// Two notes of one kind for one function: what they allow together, the larger number, the union of the targets.
noted_graph apply(const call_graph &g, const annotations &notes);

} // namespace nth::stack
