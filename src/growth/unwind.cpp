// Exceptions that leave a segment: the personality routine of __morestack's frame. It catches nothing.
#include "growth/frame.hpp"
#include "thread/limits.hpp"

namespace nth::detail {

// Called by nth_call_personality (x86_64/morestack.S), with functions of the unwinder that calls it: the program's own,
// which may be another than a shared library would find.
// In the cleanup phase the frame is gone for good. The unwinder still runs on the segment, or on one above it, so that
// is marked only: the next stub that asks from the stack beneath gives it back (enter.cpp).
extern "C" NTH_API int nth_growth_personality(int, int actions, std::uint64_t, void *, void *context,
                                              std::uintptr_t (*get_cfa)(void *),
                                              std::uintptr_t (*get_register)(void *, int)) {
  constexpr int cleanup_phase = 2; // _UA_CLEANUP_PHASE
  constexpr int go_on = 8;         // _URC_CONTINUE_UNWIND
  constexpr int rbp = 6;           // as DWARF counts registers
  worker *w = current_worker();
  if ((actions & cleanup_phase) == 0 || w->limits == nullptr)
    return go_on;
  set_all_limits(w, always_ask);
  // rsp at the call that is left: on the segment, but for calls of libnth itself.
  const std::uintptr_t inner = get_cfa(context);
  const std::uintptr_t outer = get_register(context, rbp);
  if (on_stack(inner) && on_stack(outer) && top_of(inner) != top_of(outer))
    top_of(inner)->segments |= segment_retired;
  return go_on;
}

} // namespace nth::detail
