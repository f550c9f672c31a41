// Blocking, yielding, making way: what switch.S asks before it leaves a stack. Each function here runs on
// the stack of the thread that suspends, with its registers saved at sp, and decides what comes next. It
// makes the thread visible to others only through the private part, whose bracket the assembly closes
// after it has left the stack (design.md, section 3, order of publication).
#include "base/error.hpp"
#include "memory/annotate.hpp"
#include "thread/dispatch.hpp"
#include "thread/fork.hpp"
#include "thread/outside.hpp"
#include "thread/ready.hpp"
#include "thread/roomy.hpp"

#include <cstring>

namespace nth::detail {

namespace {

static_assert(NTH_ENOMEM == 2, "switch.S returns it");

// The thread that suspends: its stack is that of sp, maybe not the one that this runs on.
inline nth_desc *thread_at(const worker *w, void *sp) noexcept {
  return w->special == 0 ? running() : top_of(reinterpret_cast<std::uintptr_t>(sp))->thread;
}

// Without a switch: back to where the caller came from.
switch_target stay(void *sp, worker *w) noexcept { return {sp, w}; }

// Policy dsr. Threads on stacks of the default class have the loop that called them beneath; those on
// stacks of their own class run while the worker's loop is suspended. So one may follow another of its kind
// without a loop between.
inline bool may_follow(const worker *w, const nth_desc *n) noexcept {
  return n != nullptr && !is_fresh(n) && (class_of(n) != 0) == (w->loop_sp != nullptr);
}

// Policy dsr: whether a loop must be entered, on a stack of its own, when `n` is next (null: nothing).
inline bool needs_stack(const worker *w, const nth_desc *n) noexcept {
  return the_runtime.policy == NTH_POLICY_DSR && w->loop_sp == nullptr && !may_follow(w, n);
}

// Where to go on, after a thread that has been saved.
inline switch_target go_on(worker *w, nth_desc *n, stack_top *spare) noexcept {
  if (the_runtime.policy == NTH_POLICY_DSR && may_follow(w, n)) {
    if (w->loop_sp != nullptr) [[unlikely]]
      bound_forks(w, class_of(n));
    return {restore_rest(w, n), w};
  }
  // A loop, and what starts from it, has no exceptions in flight.
  w->eh->caught = nullptr;
  w->eh->uncaught = 0;
  w->first = n;
  return {spare != nullptr ? loop_context(spare) : w->loop_sp, w};
}

// Saves what the assembly does not, and finds where to go on.
inline switch_target suspend(worker *w, nth_desc *d, void *sp, nth_desc *n, stack_top *spare) noexcept {
  NTH_ASSERT(d != nullptr && d != n && reinterpret_cast<std::uintptr_t>(sp) % 16 == 0);
  save_rest(w, d, sp);
  return go_on(w, n, spare);
}

// Gives back what pop had given, when there is no stack to go on with.
void put_back(worker *w, nth_desc *n) noexcept {
  if (n != nullptr)
    push_front(w, n);
}

// The caller is ready again, but may not be given away before its stack has been left: a sleeper is woken, and
// will ask.
inline void wake_for_caller(worker *w) noexcept {
  if ((w->request.load(std::memory_order_relaxed) & request_poison) != 0) [[unlikely]] {
    if (the_runtime.searching.load(std::memory_order_relaxed) == 0)
      wake_one(nullptr);
  }
}

[[gnu::noinline]] switch_target yield_slow(void *sp) noexcept {
  worker *w = current_worker();
  if (w->id < 0)
    return stay(sp, w);
  nth_desc *d = thread_at(w, sp);
  enter(w);
  if (linked_spawned(w) && !share_all_spawned(w)) [[unlikely]]
    return stay(sp, w);
  nth_desc *n = pop(w);
  if (n == nullptr)
    return stay(sp, w);
  stack_top *spare = nullptr;
  if (needs_stack(w, n) && (spare = take_stack(w)) == nullptr) [[unlikely]] {
    put_back(w, n);
    return stay(sp, w);
  }
  set_state(d, thread_state::ready_again);
  push_back(w, d);
  wake_for_caller(w);
  return suspend(w, d, sp, n, spare);
}

// From nth/inline.h the caller's stack may be a small one; from switch.S it is not.
[[gnu::noinline]] switch_target yield_roomy(void *sp) noexcept {
  return roomy(current_worker(), [=] { return yield_slow(sp); });
}

} // namespace

// nth_yield: the caller goes to the end of the queue. In line: the next thread lies in the back window,
// with nothing before it, and has run before.
extern "C" NTH_API switch_target nth_pick_yield(void *sp) noexcept {
  worker *w = current_worker();
  if (w->special != 0 || !enter_quietly(w)) [[unlikely]]
    return yield_roomy(sp);
  private_part &p = w->own;
  window &k = p.back;
  if (!p.front.empty() || w->closed || k.empty() || k.hi == block_size || p.ended_of != nullptr ||
      p.outgoing_count != 0 || w->tick == 1 || linked_spawned(w)) [[unlikely]]
    return yield_roomy(sp);
  nth_desc *n = k.b->slot[k.lo];
  if (!is_plain_again(n)) [[unlikely]]
    return yield_roomy(sp);
  nth_desc *d = running();
  --w->tick;
  ++k.lo;
  k.b->slot[k.hi++] = d;
  set_state(d, thread_state::ready_again);
  save_rest(w, d, sp);
  return {restore_rest(w, n), w};
}

namespace {

#if defined(NTH_ASAN) || defined(NTH_TSAN)
constexpr bool picks_elsewhere = false;
#else
constexpr bool picks_elsewhere = true; // switch.S, PICK: for threads on stacks of their own class
#endif

// Waits for nth_unblock. The caller's stack has been left already, so the caller may be seen, and run by
// others, from the exchange on: no dependency of its own is needed to hold them off, and nothing of it may be
// touched after that.
[[gnu::noinline]] switch_target block_elsewhere(worker *w, nth_desc *d, void *sp) noexcept {
  constexpr dep_word state_bits = dep_word{0xff} << 48;
  constexpr dep_word blocked = dep_word{static_cast<std::uint8_t>(thread_state::blocked)} << 48;
  enter(w);
  nth_desc *n = pop(w);
  if ((w->request.load(std::memory_order_relaxed) & request_poison) != 0) [[unlikely]]
    share_with_sleepers(w);
  save_rest(w, d, sp);
  dep_word old = __atomic_load_n(word_of(d), __ATOMIC_ACQUIRE);
  do {
    if ((old & token_in_word) != 0) { // the unblock came before
      __atomic_fetch_and(word_of(d), ~token_in_word, __ATOMIC_ACQUIRE);
      put_back(w, n);
      return stay(restore_rest(w, d), w);
    }
  } while (!__atomic_compare_exchange_n(word_of(d), &old, (old & ~state_bits) | blocked | dep_waiting | 1,
                                        true, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
  return go_on(w, n, nullptr);
}

} // namespace

namespace {

[[gnu::cold, gnu::noinline]] bool share_before_block(worker *w) noexcept {
  enter(w);
  const bool shared = share_all_spawned(w);
  leave_sharing(w);
  return shared;
}

} // namespace

// nth_block, nth_try_block.
extern "C" __attribute__((visibility("hidden"))) switch_target nth_pick_block(void *sp) noexcept {
  worker *w = current_worker();
  if (w->id < 0) {
    block_outside();
    return stay(sp, w);
  }
  nth_desc *d = thread_at(w, sp);
  if (linked_spawned(w) && !share_before_block(w)) [[unlikely]]
    return {nullptr, w};
  private_part &p = w->own;
  const std::uint32_t before = dependencies(d);
  if (before == 0 && picks_elsewhere && w->special == special_class)
    return block_elsewhere(w, d, sp);
  if (before == 0) {
    // Waits for nth_unblock: one dependency that it lowers, and one that is the caller's own.
    dep_word old = __atomic_load_n(word_of(d), __ATOMIC_ACQUIRE);
    do {
      if ((old & token_in_word) != 0) {
        __atomic_fetch_and(word_of(d), ~token_in_word, __ATOMIC_ACQUIRE);
        return stay(sp, &nobody);
      }
    } while (!__atomic_compare_exchange_n(word_of(d), &old, old | dep_waiting | 2, true, __ATOMIC_ACQ_REL,
                                          __ATOMIC_ACQUIRE));
  }
  enter(w);
  if (before != 0) {
    // Children that have ended here may not be posted yet.
    const std::uint32_t mine = p.ended_of == d ? p.ended_count : 0;
    if (dependencies(d) == mine + 1) {
      __atomic_store_n(&d->ndep, 0, __ATOMIC_RELAXED);
      if (mine != 0)
        p.ended_of = nullptr;
      return stay(sp, w);
    }
  }
  if (p.ended_of != d)
    post_ended(w);
  nth_desc *n = pop(w);
  stack_top *spare = nullptr;
  if (needs_stack(w, n) && (spare = take_stack(w)) == nullptr) [[unlikely]] {
    put_back(w, n);
    if (before == 0) {
      // An unblock that came meanwhile is remembered.
      const dep_word now =
          __atomic_fetch_and(word_of(d), ~dep_word{dep_waiting | dep_count}, __ATOMIC_ACQ_REL);
      if ((ndep_in(now) & dep_waiting) == 0)
        __atomic_fetch_or(word_of(d), token_in_word, __ATOMIC_RELAXED);
    }
    leave_sharing(w);
    return {nullptr, w};
  }
  // What has got ready meanwhile is offered to sleeping workers while the caller is not among it.
  if ((w->request.load(std::memory_order_relaxed) & request_poison) != 0) [[unlikely]]
    share_with_sleepers(w);
  set_state(d, thread_state::blocked);
  // The own dependency is given up like a child that has ended here: counted in the private part, which
  // nobody else can read before the stack has been left.
  if (p.ended_of != d) {
    post_ended(w); // pop may have run into other ends
    p.ended_of = d;
    p.ended_count = 0;
  }
  ++p.ended_count;
  return suspend(w, d, sp, n, spare);
}

extern "C" NTH_API void nth_block(void) {
  worker *w = current_worker();
  if (!join_in_place(w))
    nth_block_switch();
}

extern "C" NTH_API nth_status nth_try_block(void) {
  worker *w = current_worker();
  if (w->id < 0 && attached() == nullptr)
    return fail(NTH_ESTATE, "nth_try_block: %s", nothing_to_block_on);
  return join_in_place(w) ? NTH_OK : nth_try_block_switch();
}

extern "C" __attribute__((visibility("hidden"))) void nth_block_refused() noexcept {
  roomy(current_worker(), [] {
    misuse(NTH_ENOMEM,
           "nth_block: no stack for the worker to go on with: %ld are in use; raise the limit on memory, "
           "choose a smaller NTH_STACK_SIZE, block fewer threads, or call nth_try_block, which says so",
           the_stacks.allocated());
  });
}

// A sync of a call that runs elsewhere (fork.cpp). The caller becomes visible to whom it waits for on the next stack
// only: publish_waiter, so a loop comes next in any case.
extern "C" __attribute__((visibility("hidden"))) switch_target nth_pick_wait(void *sp,
                                                                             nth_spawn_record *r) noexcept {
  worker *w = current_worker();
  nth_desc *d = thread_at(w, sp);
  enter(w);
  stack_top *spare = nullptr;
  if (!share_all_spawned(w) || (needs_stack(w, nullptr) && (spare = take_stack(w)) == nullptr)) [[unlikely]] {
    leave_sharing(w);
    return {nullptr, w};
  }
  if ((w->request.load(std::memory_order_relaxed) & request_poison) != 0) [[unlikely]]
    share_with_sleepers(w);
  set_state(d, thread_state::waits);
  w->waits_for = r;
  w->waiter = d;
  return suspend(w, d, sp, nullptr, spare);
}

// A creator above the bound of its worker (NTH_BACKLOG), whose put has filled the window at `end`: that window
// runs next, newest first, with the creator beneath, so that few creators are suspended at one time
// (design.md, section 3, backlog).
extern "C" __attribute__((visibility("hidden"))) switch_target nth_pick_make_way(void *sp, int end) noexcept {
  worker *w = current_worker();
  nth_desc *d = thread_at(w, sp);
  enter(w);
  if (linked_spawned(w) && !share_all_spawned(w))
    return stay(sp, w);
  const bool back = end == static_cast<int>(queue_end::back);
  window &from = back ? w->own.back : w->own.front;
  if (from.empty()) // a thief has taken all of it since the caller looked
    return stay(sp, w);
  nth_desc *n = from.b->slot[back ? from.hi - 1 : from.lo];
  stack_top *spare = nullptr;
  if (needs_stack(w, n) && (spare = take_stack(w)) == nullptr) [[unlikely]]
    return stay(sp, w);
  if (back)
    turn_back_window(w);
  window &f = w->own.front;
  std::memmove(&f.b->slot[f.lo], &f.b->slot[f.lo + 1], (f.hi - f.lo - 1) * sizeof f.b->slot[0]);
  f.b->slot[f.hi - 1] = d;
  set_state(d, thread_state::ready_again);
  wake_for_caller(w);
  return suspend(w, d, sp, n, spare);
}

} // namespace nth::detail
