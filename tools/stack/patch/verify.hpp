// Looks at a patched program as at any other, by the reader and decoder of the analysis, and holds it against the plan.
#pragma once

#include "patch/link_plan.hpp"

namespace nth::stack {

// Throws bad_input with the first difference: a stub that does not do what it must, a call that does not lead to its stub,
// a reference to a function itself where there is one to its stub, a table that differs, a byte changed elsewhere.
void verify(const std::filesystem::path &original, const std::filesystem::path &patched,
            const link_plan &plan);

} // namespace nth::stack
