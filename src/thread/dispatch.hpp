// Where threads run: the scheduler loop, one template over the three stack policies (paper 000).
//
//   dsr  the loop runs on a stack of the area and *calls* the root of the next thread on it; a thread
//        that blocks keeps that stack, and the worker enters a fresh loop on another one:
//        stacks in use = workers + blocked threads
//   lsa  the loop has a stack of its own; each thread gets one at dispatch and returns it when it ends
//   dos  the same, but a thread brings its stack along since its creation
#pragma once

#include "arch/arch.hpp"
#include "thread/limits.hpp"
#include "thread/runtime.hpp"
#include "thread/worker.hpp"

namespace nth::detail {

// What a suspending routine in switch.S continues with.
struct switch_target {
  void *sp; // null: impossible, nothing was changed
  worker *w;
};

struct dsr_policy {
  static constexpr bool calls_roots = true;
};
struct lsa_policy {
  static constexpr bool calls_roots = false;
};
struct dos_policy {
  static constexpr bool calls_roots = false;
};

// The context in which worker w's loop begins on `stack`.
void *loop_context(stack_top *stack) noexcept;
// The first one, for a worker that has just started; it does not come back before the run ends.
void enter_first_loop(worker *w, stack_top *stack) noexcept;

// nth_block of a thread that waits for one child only, when that child is what would run next: the child is
// called, on the stack of the thread that waits for it anyway (design.md, "Joining one child in
// place"). When it blocks, it keeps the stack of both, and its parent goes on when it
// has ended, wherever that is. Only with seven eighths of the stack left: that much every thread is
// promised. False: nothing was done.
bool join_in_place(worker *w) noexcept;

// Whether `child`, which was never started, may be called on a stack with `room` bytes below rsp, because it is
// proved that it does not block and needs no more than that (call_in_place.cpp).
bool may_call_in_place(const nth_desc *child, std::uintptr_t room) noexcept;
// A creator that would have to make way for `child` calls it instead, if it may. Private part entered; true:
// the child has ended, and the private part was left.
bool call_new_child(worker *w, nth_desc *child) noexcept;

// A stack of the default class, or of region r, from the worker's list, the pools, or new memory.
stack_top *take_stack(worker *w) noexcept;
stack_top *take_stack(worker *w, unsigned r) noexcept;
void give_stack(worker *w, stack_top *stack) noexcept;
// Those of the default class, by which idle workers would hold more than the run needs, and those of other
// nodes: to the pools. Called when a worker goes idle.
void send_stacks(worker *w) noexcept;

// The segments above a stack whose frames have ended, or on which the frame runs that asks for it.
void release_segments(worker *w, stack_top *beneath) noexcept;

// What a spawned call finds of a stack of that class (0: the default one) when it is called there: half of it, and
// nothing of those that are for proved needs (c_api/spawn.cpp).
void bound_forks(worker *w, unsigned of_class) noexcept;

// ---- What a suspended thread keeps besides its registers (in its descriptor) ----

inline void save_rest(worker *w, nth_desc *d, void *sp) noexcept {
  d->args[saved_sp] = reinterpret_cast<long>(sp);
  d->args[saved_caught] = reinterpret_cast<long>(w->eh->caught);
  d->args[saved_errno] = static_cast<long>(static_cast<std::uint64_t>(w->eh->uncaught) << 32 |
                                           static_cast<std::uint32_t>(*w->errno_place));
  if ((flags_of(d) & flag_keep_fp) != 0) [[unlikely]] {
    const arch::fp_control c = arch::read_fp();
    const std::uint64_t scopes = static_cast<std::uint64_t>(d->args[saved_fp]) & ~below_scopes;
    d->args[saved_fp] = static_cast<long>(scopes | static_cast<std::uint64_t>(c.x87) << 32 | c.mxcsr);
    arch::write_fp(arch::standard_fp);
  }
}

// All but the limits of its stack.
inline void *restore_words(worker *w, const nth_desc *d) noexcept {
  w->eh->caught = reinterpret_cast<void *>(d->args[saved_caught]);
  const auto both = static_cast<std::uint64_t>(d->args[saved_errno]);
  w->eh->uncaught = static_cast<unsigned int>(both >> 32);
  *w->errno_place = static_cast<int>(static_cast<std::uint32_t>(both));
  if ((flags_of(d) & flag_keep_fp) != 0) [[unlikely]] {
    const auto fp = static_cast<std::uint64_t>(d->args[saved_fp]);
    arch::write_fp({static_cast<std::uint32_t>(fp), static_cast<std::uint16_t>(fp >> 32)});
  }
  return reinterpret_cast<void *>(d->args[saved_sp]);
}

inline void *restore_rest(worker *w, const nth_desc *d) noexcept {
  void *sp = restore_words(w, d);
  follow_stack(w, sp);
  return sp;
}

inline bool is_fresh(const nth_desc *d) noexcept { return state_of(d) == thread_state::ready_fresh; }

} // namespace nth::detail
