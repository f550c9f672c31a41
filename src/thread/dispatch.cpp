#include "thread/dispatch.hpp"

#include "base/error.hpp"
#include "memory/annotate.hpp"
#include "os/os.hpp"
#include "thread/create.hpp"
#include "thread/ready.hpp"

#include <type_traits>

namespace nth::detail {

// ---- Stacks of a worker --------------------------------------------------------------------------------

stack_top *take_stack(worker *w) noexcept {
  // The loop stack that was dropped last is free by now: its worker has gone on elsewhere.
  if (stack_top *top = w->dropped) {
    w->dropped = nullptr;
    return top;
  }
  if (stack_top *top = w->stacks.pop())
    return top;
  return the_stacks.take(w->id);
}

void give_stack(worker *w, stack_top *stack) noexcept {
  w->stacks.push(stack);
  if (w->stacks.count > stack_pool::list_bound) [[unlikely]]
    the_stacks.trim(w->stacks);
}

void send_stacks(worker *w) noexcept {
  if (w->dropped != nullptr) {
    the_stacks.put(w->dropped);
    w->dropped = nullptr;
  }
  while (stack_top *top = w->stacks.pop())
    the_stacks.put(top);
}

namespace {

// The stack that w stands on will be left by nth_arch_drop. It stays out of the list until the next
// drop, for the list may move to the pool and another worker would take a stack that is still in use.
inline void drop_stack(worker *w, stack_top *stack) noexcept {
  NTH_ASSERT(stack != w->dropped);
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
  nth_desc *list = d->succ;
  long n = 0;
  read_spill(list, 0, 1, &n);
  long words[NTH_MAX_SUCCESSORS];
  read_spill(list, 1, static_cast<int>(n), words);
  release_spill(w, list);
  d->succ = nullptr;
  for (long i = 0; i < n; ++i)
    count_ended(w, reinterpret_cast<nth_desc *>(words[i]));
}

// Private part entered. True: the successor s got ready by it, and is the caller's to run.
inline bool end_thread(worker *w, nth_desc *d, nth_desc *&s) noexcept {
  if ((flags_of(d) & (flag_many | flag_keep_fp)) != 0) [[unlikely]]
    end_thread_rare(w, d);
  s = d->succ;
  NTH_ASSERT(state_of(d) != thread_state::free && state_of(d) != thread_state::blocked);
  retire(d);
  release_desc(w, d);
  return s != nullptr && count_ended_and_claim(w, s);
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

// After a thread has ended: what comes next. Null: the run ends.
inline nth_desc *end_and_next(worker *w, nth_desc *ended) noexcept {
  if (!enter_quietly(w)) [[unlikely]]
    return end_and_next_slow(w, ended);
  nth_desc *d = nullptr;
  if (end_thread(w, ended, d)) {
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

// Policies lsa and dos: a thread on its own stack.
[[noreturn]] void thread_main() {
  stack_top *const here = top_here();
  nth_desc *d = here->thread;
  run_root(current_worker(), d);
  worker *w = current_worker();
  d->args[saved_sp] = reinterpret_cast<long>(here);
  w->ended = d;
  arch::drop(w->loop_sp, w);
}

// ---- The loop ----------------------------------------------------------------------------------------------

template <class Policy>
[[noreturn]] void loop() {
  stack_top *const here = top_here();
  worker *w = current_worker();
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
      void *context = nullptr;
      if (!is_fresh(d)) {
        context = restore_rest(w, d);
      } else {
        stack_top *stack =
            std::is_same_v<Policy, dos_policy> ? reinterpret_cast<stack_top *>(d + 1) : take_stack(w);
        if (stack == nullptr) {
          d = wait_for_stack(w, d);
          continue;
        }
        stack->thread = d;
        annotate::fresh_context(stack);
        context = arch::fresh_context(std::is_same_v<Policy, dos_policy> ? static_cast<void *>(d) : stack,
                                      thread_main);
      }
      nth_arch_enter(&w->loop_sp, context, w);
      if (nth_desc *ended = w->ended) {
        w->ended = nullptr;
        if constexpr (std::is_same_v<Policy, lsa_policy>)
          give_stack(w, reinterpret_cast<stack_top *>(ended->args[saved_sp]));
        d = end_and_next(w, ended);
      } else {
        d = take_first(w);
      }
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
    return arch::fresh_context(stack, loop<lsa_policy>);
  case NTH_POLICY_DOS:
    return arch::fresh_context(reinterpret_cast<nth_desc *>(stack) - 1, loop<dos_policy>);
  case NTH_POLICY_DSR:
    break;
  }
  return arch::fresh_context(stack, loop<dsr_policy>);
}

void enter_first_loop(worker *w, stack_top *stack) noexcept {
  nth_arch_enter(&w->kernel_sp, loop_context(stack), w);
}

// ---- Joining one child in place --------------------------------------------------------------------------

bool join_in_place(worker *w) noexcept {
  stack_top *const here = top_here();
  nth_desc *d = here->thread;
  if ((stack_pointer() & stack_last) < w->join_floor || dependencies(d) != 2 ||
      (flags_of(d) & flag_keep_fp) != 0 || w->eh->caught != nullptr || w->eh->uncaught != 0 || w->tick == 1)
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
  const int saved = *w->errno_place;
  set_state(d, thread_state::blocked);
  here->thread = child;
  nth_arch_call_in_place(child->args[0], child->args[1], child->args[2], child->args[3], child->root);
  w = current_worker(); // the child may have blocked, and gone on with another one
  here->thread = d;
  *w->errno_place = saved;
  if ((flags_of(child) & (flag_many | flag_keep_fp)) != 0) [[unlikely]]
    end_thread_rare(w, child);
  retire(child);
  release_desc(w, child);
  __atomic_store_n(&d->ndep, 0, __ATOMIC_RELAXED);
  set_state(d, thread_state::ready_again);
  return true;
}

} // namespace nth::detail
