// What a program did in one run, laid over what analysis says it may do: table 3 and figure 3 of the paper.
#pragma once

#include "graph/solve.hpp"
#include "report/callgrind.hpp"

namespace nth::stack {

struct analysis;

// The paper's scheme: a stub allocates a segment on a back edge and on an indirect call (section 2.1, 5.2). A segment
// holds what the callee needs up to the next stub. Indirect calls on a back edge count as indirect.
//
// calls laid over = forward + backward + indirect
// backward + indirect + 1 = non_zero + zero; the 1 is the first segment, of the program's start
struct profile_counts {
  std::uint64_t forward = 0;
  std::uint64_t backward = 0;
  std::uint64_t indirect = 0;
  std::uint64_t non_zero = 1; // allocations
  std::uint64_t zero = 0;     // the callee needs no more than its return address: nothing is allocated
  std::uint64_t missing = 0;  // between known functions, but no call of the graph: listed in profile_result
  std::uint64_t outside = 0;  // of functions, or from ones, that the analysed modules do not have
};

struct missing_call {
  std::uint32_t caller = 0; // nodes
  std::uint32_t callee = 0;
  address at = 0;
  std::uint64_t count = 0;
};

// Figure 3: bytes of all segments that exist at once on the deepest executed path, and bytes that frames on the
// deepest such path take. callgrind does not tell how deep a recursion went: each back edge is taken to have been
// passed once on a path, so both are for one turn.
struct profile_space {
  std::uint32_t root = 0; // node
  std::int64_t allocated = 0;
  std::int64_t needed = 0;
  bool at_least = false; // a function on the way has a frame without bound
};

struct profile_result {
  std::string command;
  profile_counts counts;
  std::vector<missing_call> missing; // the most frequent first
  std::vector<profile_space> space;  // of each root
};

// Roots: of the space; empty: main, or what was executed and that no executed call enters.
profile_result lay_over(const analysis &a, const executed_calls &run, const std::vector<std::string> &roots);

void write_profile(std::ostream &out, const analysis &a, const profile_result &p);
// One object, as the field "profile" of the report in JSON.
std::string profile_as_json(const analysis &a, const profile_result &p);

} // namespace nth::stack
