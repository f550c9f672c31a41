// Why a call gets no segment. The program ends: there is nothing to return to.
#pragma once

#include "growth/frame.hpp"
#include "growth/program.hpp"
#include "thread/worker.hpp"

namespace nth::detail {

// Region r of stacks has none for `enough` bytes, or there is no such region.
[[noreturn]] void no_segment(worker *w, const growth_frame *f, const nth_growth_stub &s, unsigned r,
                             std::size_t enough) noexcept;
// On the stack `top` the thread has as many as NTH_STACK_MOST allows.
[[noreturn]] void too_many_segments(worker *w, const growth_frame *f, const stack_top *top) noexcept;

} // namespace nth::detail
