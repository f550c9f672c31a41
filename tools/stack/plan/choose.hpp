// Which calls go through stubs (paper 002, section 2.1, figures 1(b) to 1(d)): pointers at the entries that they
// reach, back edges, and forward edges beyond which more than a segment would be needed.
#pragma once

#include "graph/solve.hpp"

#include <algorithm>

namespace nth::stack {

// What of a program can be changed.
struct patchable_places {
  std::vector<bool> calls;   // of each edge of the graph
  std::vector<bool> entries; // of each node: all places that have its address are known
  std::vector<bool> always;  // of each edge: it has to lead through a stub
};

struct chosen_stubs {
  stub_places places;
  need_table needs;         // with these stubs
  std::vector<bool> back;   // of each edge: it was cut because it closes a cycle
  std::vector<bool> always; // as patchable_places has it
};

// Of --nth-segment: what functions are to need at most, what a thread starts on, and what a segment holds that is taken.
// Where needs are as large as stacks, each call through a stub takes the next one; with a fourth, the calls of a few
// levels are on one.
constexpr std::int64_t need_aimed_at(std::int64_t segment) noexcept {
  return std::max(segment / 4, std::min<std::int64_t>(segment, 1024));
}
// Less what nth has beside, arguments and their alignment: the class stays that of the size.
constexpr std::int64_t bytes_at_first(std::int64_t segment) noexcept { return segment - 192; }
constexpr std::int64_t bytes_taken(std::int64_t segment) noexcept {
  return bytes_at_first(std::max<std::int64_t>(segment, 4096));
}

// `segment`: bytes that a function and all that it calls without a stub are to stay within, where stubs can bring that
// about; functions whose own frames are larger exceed it. `weights`: how often each call is made (plan/weights.hpp);
// then of the calls that make up a need that is too large the rarest is chosen, else the one beyond which it is too large.
chosen_stubs choose_stubs(const call_graph &g, const annotations &notes, const patchable_places &patchable,
                          std::int64_t segment, const std::vector<double> &weights = {});

// A function that is called through pointers without a stub, for it needs no more than a stub does.
inline bool goes_without_stub(const node_need &need, std::int64_t charge) noexcept {
  return need.need != no_need && need.need <= charge;
}

} // namespace nth::stack
