// What was done to a program: in words on standard error (--nth-verbose), as JSON (--nth-report).
#pragma once

#include "link/plan_program.hpp"

namespace nth::stack {

// One object:
//   program, segment, limits     path; options; thresholds of the stubs
//   stubs   {function, kind: entry | call | jump, need, take, arguments or "by_site", guarded}
//   cuts    {caller, callee, at, depth, kind: back | forward | library, weight: with a profile}
//   roots   {function, need, certainty: proved | assumed | unbounded, assumptions, guarded, may_block, reason}
//   suspending {caller, at, own, live}: calls of nth that may suspend, and how many of the six registers that calls keep
//                                hold what is read afterwards, by the caller, and by all functions on the stack
//   profile {calls, through_stubs}: with one; how often calls were made, and how often those with stubs
void report(const planned_program &p, const ld_command &c);

} // namespace nth::stack
