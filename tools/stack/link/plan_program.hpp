// The plan for a linked program, from its analysis.
#pragma once

#include "link/ld_command.hpp"
#include "plan/live.hpp"
#include "plan/make_plan.hpp"

namespace nth::stack {

// It calls nth: without that no stub would ever find too little room.
bool uses_nth(const module &m);
// Why it can't have small stacks, though nothing is wrong with it; "": it can.
std::string why_not_small(const module &m);

struct planned_program {
  call_graph graph;
  chosen_stubs chosen;
  std::vector<bool> patched; // of each node
  link_plan plan;
  std::vector<suspending_call> suspending;
  std::vector<double> weights;      // of each edge, where there is a profile
  bool shared_cxx = false;          // it needs a shared libstdc++
  std::vector<std::string> jumping; // libraries that jump by themselves
};

// Throws bad_input.
planned_program plan_program(const std::filesystem::path &file, const ld_command &c);

} // namespace nth::stack
