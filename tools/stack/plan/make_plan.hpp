// From the calls that go through stubs to what is written into the program: each stub with its need, each instruction
// and pointer that leads to it, the table of needs, what calls through pointers have on the stack.
#pragma once

#include "patch/link_plan.hpp"
#include "plan/choose.hpp"
#include "plan/patched_program.hpp"

namespace nth::stack {

struct plan_sizes {
  std::int64_t first = 0;   // a root that may call through stubs has so much at least
  std::int64_t segment = 0; // a stub that takes one takes so much at least
  std::int64_t turns = 1;   // of a cycle, that fit what a stub takes (figure 1(e))
};

// What of the program can be changed, and calls that go through stubs in any case. Throws bad_input where one of the
// latter can't be changed.
patchable_places find_patchable(const patched_program &program, const call_graph &g);

// `weights`: how often each call is made (plan/weights.hpp); may be empty.
link_plan make_plan(const patched_program &program, const call_graph &g, const chosen_stubs &chosen,
                    const plan_sizes &sizes, const std::vector<double> &weights);

struct weighed_need {
  std::uint32_t need = 0;
  double often = 1; // against others
};
// Up to NTH_STUB_LIMITS needs of which each need has one at or above it, so that little is lost by rounding up.
std::vector<std::uint32_t> choose_thresholds(std::vector<weighed_need> needs);

} // namespace nth::stack
