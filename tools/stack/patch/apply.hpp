// Patches a linked program.
#pragma once

#include "patch/link_plan.hpp"
#include "patch/pool.hpp"

namespace nth::stack {

// Room that a plan takes; what a pool must have at least.
pool_room room_for(const link_plan &plan);

// Throws bad_input if `m` is a program that can't be patched, whatever the plan: not linked with a pool, patched already,
// without kept relocations, a shared object, bound lazily, instrumented by a sanitizer. To be asked before the analysis.
void check_patchable(const module &m);

// Writes `output`, which may be `program` itself: the program with stubs and tables filled, calls and references redirected,
// kept relocations removed, and checked by verify(). Throws bad_input; then `output` is as it was.
void apply_plan(const std::filesystem::path &program, const link_plan &plan,
                const std::filesystem::path &output);

} // namespace nth::stack
