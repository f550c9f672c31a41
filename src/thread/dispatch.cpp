#include "thread/dispatch.hpp"

#include "base/error.hpp"
#include "memory/annotate.hpp"
#include "os/os.hpp"
#include "thread/create.hpp"
#include "thread/fork.hpp"
#include "thread/own_heap.hpp"
#include "thread/ready.hpp"

#include <type_traits>

namespace nth::detail {

namespace {

// The stack that w stands on will be left by nth_arch_drop. It stays out of the list until the next
// drop, for the list may move to the pool and another worker would take a stack that is still in use.
inline void drop_stack(worker *w, stack_top *stack) noexcept {
  NTH_ASSERT(stack != w->dropped);
  if (stack->above != nullptr) [[unlikely]]
    release_segments(w, stack);
  if (w->dropped != nullptr)
    give_stack(w, w->dropped);
  w->dropped = stack;
}

// ---- A thread's start and end ----------------------------------------------------------------------------

using four_words = void (*)(long, long, long, long);

[[gnu::noinline]] void run_spilled(worker *w, nth_desc *d) noexcept(false) {
  long words[NTH_MAX_ARGS];
  const long n = d->args[1];
  auto *cells = reinterpret_cast<nth_desc *>(d->args[0]);
  read_spill(cells, 0, static_cast<int>(n), words);
  for (long i = n; i < 6; ++i)
    words[i] = 0;
  release_spill(w, cells);
  __atomic_and_fetch(&d->flags, static_cast<std::uint8_t>(~flag_spilled), __ATOMIC_RELAXED);
  nth_arch_call_words(d->root, n, words);
}

inline void call_root(const nth_desc *d) {
  reinterpret_cast<four_words>(d->root)(d->args[0], d->args[1], d->args[2], d->args[3]);
}

// Calls the root. Nothing that a worker owns may be kept in registers across it.
inline void run_root(worker *w, nth_desc *d) {
  if ((flags_of(d) & flag_spilled) != 0) [[unlikely]]
    return run_spilled(w, d);
  call_root(d);
}

[[gnu::noinline]] void end_thread_rare(worker *w, nth_desc *d) noexcept {
  if ((flags_of(d) & flag_keep_fp) != 0)
    arch::write_fp(arch::standard_fp);
  if ((flags_of(d) & flag_many) == 0)
    return;
  kept_words kept;
  read_kept(d->succ, kept);
  NTH_ASSERT(!kept.has_heap && kept.successors > 1);
  release_spill(w, d->succ);
  d->succ = nullptr;
  end_all(w, reinterpret_cast<nth_desc **>(kept.word), kept.successors);
}

constexpr std::uint8_t flags_rare = flag_many | flag_keep_fp;

// Private part entered; d has no rare flags. True: the successor s got ready by it, and is the caller's to run.
inline bool end_common_thread(worker *w, nth_desc *d, nth_desc *&s) noexcept {
  s = d->succ;
  NTH_ASSERT(state_of(d) != thread_state::free && state_of(d) != thread_state::blocked);
  retire(d);
  release_desc(w, d);
  return s != nullptr && count_ended_and_claim(w, s);
}

// The same for any thread whose heap has ended.
inline bool end_thread(worker *w, nth_desc *d, nth_desc *&s) noexcept {
  if ((flags_of(d) & flags_rare) != 0) [[unlikely]]
    end_thread_rare(w, d);
  return end_common_thread(w, d, s);
}

[[gnu::noinline]] nth_desc *next(worker *w) noexcept {
  enter(w);
  nth_desc *d = pop(w);
  leave_sharing(w);
  return d != nullptr ? d : next_or_idle(w);
}

[[gnu::noinline]] nth_desc *end_and_next_slow(worker *w, nth_desc *ended) noexcept {
  enter(w);
  nth_desc *s = nullptr;
  if (end_thread(w, ended, s))
    push_front(w, s);
  leave(w);
  return next(w);
}

// Its heap may be large: others must not wait for the private part meanwhile.
[[gnu::noinline]] nth_desc *end_rare_and_next(worker *w, nth_desc *ended) noexcept {
  give_up_heap(w, ended);
  return end_and_next_slow(w, ended);
}

// After a thread has ended: what comes next. Null: the run ends.
inline nth_desc *end_and_next(worker *w, nth_desc *ended) noexcept {
  if (linked_spawned(w)) [[unlikely]]
    report_forgotten(w, ended);
  if ((flags_of(ended) & flags_rare) != 0) [[unlikely]]
    return end_rare_and_next(w, ended);
  if (!enter_quietly(w)) [[unlikely]]
    return end_and_next_slow(w, ended);
  nth_desc *d = nullptr;
  if (end_common_thread(w, ended, d)) {
    // A successor that gets ready runs next on this worker; the inbox has its turn all the same.
    if (--w->tick != 0) [[likely]] {
      leave(w);
      return d;
    }
    w->tick = 1;
    push_front(w, d);
  }
  d = pop(w);
  leave(w);
  return d != nullptr ? d : next_or_idle(w);
}

inline nth_desc *take_first(worker *w) noexcept {
  if (w->waits_for != nullptr)
    publish_waiter(w);
  nth_desc *d = w->first;
  w->first = nullptr;
  return d != nullptr ? d : next(w);
}

// No memory for the stack of a fresh thread: others may end meanwhile and leave theirs.
[[gnu::cold]] nth_desc *wait_for_stack(worker *w, nth_desc *d) noexcept {
  constexpr std::uint32_t tries_before_complaint = 100'000;
  if (++w->stack_misses % tries_before_complaint == 0)
    misuse(NTH_ENOMEM,
           "no stack for a thread that is ready: %ld are in use; raise the limit on memory, choose a smaller "
           "NTH_STACK_SIZE, or block fewer threads",
           the_stacks.allocated());
  os::yield_processor();
  enter(w);
  push_back(w, d);
  d = pop(w);
  leave_sharing(w);
  return d;
}

// Policies lsa and dos, and threads with many arguments on a stack of their own class.
[[noreturn]] void thread_main() {
  stack_top *const here = top_of(stack_pointer());
  nth_desc *d = here->thread;
  run_root(current_worker(), d);
  worker *w = current_worker();
  d->args[saved_sp] = reinterpret_cast<long>(here);
  w->ended = d;
  arch::drop(w->loop_sp, w);
}

// ---- Threads that the loop does not call ---------------------------------------------------------------

// The context in which d begins, on a stack of its own; null: no memory.
template <class Policy>
void *begin_elsewhere(worker *w, nth_desc *d) noexcept {
  constexpr bool dos = std::is_same_v<Policy, dos_policy>;
  const unsigned of_class = class_of(d);
  stack_top *stack = nullptr;
  if (of_class != 0)
    stack = take_stack(w, of_class - 1);
  else
    stack = dos ? reinterpret_cast<stack_top *>(d + 1) : take_stack(w);
  if (stack == nullptr)
    return nullptr;
  stack->thread = d;
  annotate::fresh_context(stack);
  if (of_class == 0)
    return arch::fresh_context(dos ? static_cast<void *>(d) : first_frame(stack), thread_main);
  return (flags_of(d) & flag_spilled) != 0 ? arch::fresh_context(first_frame(stack), thread_main)
                                           : arch::start_context(stack);
}

// Runs d until it ends or suspends, from a loop that is suspended meanwhile. What comes next.
template <class Policy>
nth_desc *run_elsewhere(worker *w, nth_desc *d) noexcept {
  void *context = is_fresh(d) ? begin_elsewhere<Policy>(w, d) : restore_words(w, d);
  if (context == nullptr)
    return wait_for_stack(w, d);
  const std::uintptr_t floor = w->join_floor;
  if (class_of(d) != 0) {
    w->special = special_class;
    w->join_floor = ~std::uintptr_t{0};
    bound_forks(w, class_of(d));
  }
  follow_stack(w, context);
  nth_arch_enter(&w->loop_sp, context, w);
  w->special = 0;
  w->join_floor = floor;
  bound_forks(w, 0);
  follow_stack(w, top_here());
  if constexpr (Policy::calls_roots)
    w->loop_sp = nullptr;
  nth_desc *ended = w->ended;
  if (ended == nullptr)
    return take_first(w);
  w->ended = nullptr;
  auto *stack = reinterpret_cast<stack_top *>(ended->args[saved_sp]);
  stack->heap = 0; // it is left before give_up_heap
  if (!std::is_same_v<Policy, dos_policy> || class_of(ended) != 0)
    give_stack(w, stack);
  else if (stack->above != nullptr) [[unlikely]]
    release_segments(w, stack);
  return end_and_next(w, ended);
}

// ---- The loop ----------------------------------------------------------------------------------------------

template <class Policy>
[[noreturn]] void loop() {
  stack_top *const here = top_here();
  worker *w = current_worker();
  follow_stack(w, here);
  nth_desc *d = take_first(w);
  for (;;) {
    if (d == nullptr) { // the run ends: on the kernel's stack
      drop_stack(w, here);
      arch::drop(w->kernel_sp, w);
    }
    if constexpr (Policy::calls_roots) {
      if (is_plain_fresh(d)) [[likely]] {
        here->thread = d;
        call_root(d);
        w = current_worker(); // the thread may have blocked, and gone on with another one
        d = end_and_next(w, d);
        continue;
      }
      if (class_of(d) != 0) [[unlikely]] {
        d = run_elsewhere<Policy>(w, d);
        continue;
      }
      if (!is_fresh(d)) {
        // It has a stack of its own, and this one holds nothing.
        drop_stack(w, here);
        arch::drop(restore_rest(w, d), w);
      }
      here->thread = d;
      run_root(w, d);
      w = current_worker();
      d = end_and_next(w, d);
    } else {
      d = run_elsewhere<Policy>(w, d);
    }
  }
}

} // namespace

void *loop_context(stack_top *stack) noexcept {
  stack->thread = nullptr;
  annotate::fresh_context(stack);
  // Under dos the place below is a descriptor's; it stays zero here, so that a walk sees none.
  switch (the_runtime.policy) {
  case NTH_POLICY_LSA:
    return arch::fresh_context(first_frame(stack), loop<lsa_policy>);
  case NTH_POLICY_DOS:
    return arch::fresh_context(reinterpret_cast<nth_desc *>(stack) - 1, loop<dos_policy>);
  case NTH_POLICY_DSR:
    break;
  }
  return arch::fresh_context(first_frame(stack), loop<dsr_policy>);
}

void enter_first_loop(worker *w, stack_top *stack) noexcept {
  nth_arch_enter(&w->kernel_sp, loop_context(stack), w);
}

// ---- Joining one child in place --------------------------------------------------------------------------

namespace {

// A child that is called shares what d has of the kernel thread: nothing of that may be d's own.
inline bool shares_nothing(const worker *w, const nth_desc *d) noexcept {
  return (flags_of(d) & flag_keep_fp) == 0 && w->eh->caught == nullptr && w->eh->uncaught == 0;
}

// Calls the child's root on `here`, the stack of d. The child may block and keep the stack: the worker on
// which it ends is returned.
inline worker *call_child(worker *w, stack_top *here, nth_desc *d, nth_desc *child) noexcept {
  const int saved = *w->errno_place;
  here->thread = child;
  nth_arch_call_in_place(child->args[0], child->args[1], child->args[2], child->args[3], child->root);
  w = current_worker();
  here->thread = d;
  *w->errno_place = saved;
  return w;
}

} // namespace

bool call_new_child(worker *w, nth_desc *child) noexcept {
  if (w->special != 0)
    return false;
  stack_top *const here = top_here();
  nth_desc *d = here->thread;
  if (!is_plain_fresh(child) || !shares_nothing(w, d) ||
      !may_call_in_place(child, stack_pointer() - stack_bottom(here) - the_stacks.guard_size()))
    return false;
  leave_sharing(w);
  w = call_child(w, here, d, child);
  give_up_heap(w, child);
  enter(w);
  nth_desc *s = nullptr;
  if (end_thread(w, child, s))
    push_front(w, s);
  leave_sharing(w);
  return true;
}

bool join_in_place(worker *w) noexcept {
  stack_top *const here = top_here();
  if ((stack_pointer() & stack_last) < w->join_floor)
    return false;
  nth_desc *d = here->thread;
  if (dependencies(d) != 2 || !shares_nothing(w, d) || w->tick == 1)
    return false;
  if (!enter_quietly(w)) {
    leave(w);
    return false;
  }
  window &f = w->own.front;
  nth_desc *child = f.empty() ? d : f.b->slot[f.lo];
  if (child->succ != d || !is_plain_fresh(child)) {
    leave(w);
    return false;
  }
  ++f.lo;
  --w->tick;
  leave(w);
  set_state(d, thread_state::blocked);
  w = call_child(w, here, d, child);
  if ((flags_of(child) & flags_rare) != 0) [[unlikely]] {
    give_up_heap(w, child);
    end_thread_rare(w, child);
  }
  retire(child);
  release_desc(w, child);
  __atomic_store_n(&d->ndep, 0, __ATOMIC_RELAXED);
  set_state(d, thread_state::ready_again);
  return true;
}

} // namespace nth::detail
