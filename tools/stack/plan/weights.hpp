// How often calls are made: counted by a run, or estimated from the control flow. Of equal worth for a choice of the
// places for stubs: a rare call may be expensive (paper 002, section 6, future work).
#pragma once

#include "graph/solve.hpp"
#include "plan/patched_program.hpp"
#include "report/callgrind.hpp"

namespace nth::stack {

// Of each edge of the graph. A run of any link of the same objects will do: calls are known by their function's name
// and where they are in it. `found`: how many of the run's calls have an edge.
std::vector<double> weights_of_run(const call_graph &g, const executed_calls &run, std::uint64_t &found);
// Estimated for one run of the program from its entry.
std::vector<double> estimated_weights(const patched_program &program, const call_graph &g,
                                      const need_table &t);

} // namespace nth::stack
