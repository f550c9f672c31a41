// Blocking, yielding, making way: what switch.S asks before it leaves a stack. Each function here runs on
// the stack of the thread that suspends, with its registers saved at sp, and decides what comes next. It
// makes the thread visible to others only through the private part, whose bracket the assembly closes
// after it has left the stack (design.md, section 3, order of publication).
#include "base/error.hpp"
#include "memory/annotate.hpp"
#include "thread/dispatch.hpp"
#include "thread/outside.hpp"
#include "thread/ready.hpp"

#include <cstring>

namespace nth::detail {

namespace {

static_assert(NTH_ENOMEM == 2, "switch.S returns it");

// Without a switch: back to where the caller came from.
switch_target stay(void *sp, worker *w) noexcept { return {sp, w}; }

// Policy dsr: whether a loop must be entered, on a stack of its own, when `n` is next (null: nothing).
inline bool needs_stack(const nth_desc *n) noexcept {
  return the_runtime.policy == NTH_POLICY_DSR && (n == nullptr || is_fresh(n));
}

// Saves what the assembly does not, and finds where to go on.
inline switch_target suspend(worker *w, nth_desc *d, void *sp, nth_desc *n, stack_top *spare) noexcept {
  NTH_ASSERT(d != nullptr && d != n && reinterpret_cast<std::uintptr_t>(sp) % 16 == 0);
  save_rest(w, d, sp);
  if (n != nullptr && spare == nullptr && the_runtime.policy == NTH_POLICY_DSR)
    return {restore_rest(w, n), w};
  // A loop, and what starts from it, has no exceptions in flight.
  w->eh->caught = nullptr;
  w->eh->uncaught = 0;
  w->first = n;
  return {spare != nullptr ? loop_context(spare) : w->loop_sp, w};
}

// Gives back what pop had given, when there is no stack to go on with.
void put_back(worker *w, nth_desc *n) noexcept {
  if (n != nullptr)
    push_front(w, n);
}

} // namespace

namespace {

[[gnu::noinline]] switch_target yield_slow(void *sp) noexcept {
  worker *w = current_worker();
  if (w->id < 0)
    return stay(sp, w);
  nth_desc *d = running();
  enter(w);
  nth_desc *n = pop(w);
  if (n == nullptr)
    return stay(sp, w);
  stack_top *spare = nullptr;
  if (needs_stack(n) && (spare = take_stack(w)) == nullptr) [[unlikely]] {
    put_back(w, n);
    return stay(sp, w);
  }
  set_state(d, thread_state::ready_again);
  push_back(w, d);
  // The caller may not be given away before its stack has been left: a sleeper is woken, and will ask.
  if ((w->request.load(std::memory_order_relaxed) & request_poison) != 0) [[unlikely]] {
    if (the_runtime.searching.load(std::memory_order_relaxed) == 0)
      wake_one(nullptr);
  }
  return suspend(w, d, sp, n, spare);
}

} // namespace

// nth_yield: the caller goes to the end of the queue. In line: the next thread lies in the back window,
// with nothing before it, and has run before.
extern "C" NTH_API switch_target nth_pick_yield(void *sp) noexcept {
  worker *w = current_worker();
  if (w->id < 0 || !enter_quietly(w)) [[unlikely]]
    return yield_slow(sp);
  private_part &p = w->own;
  window &k = p.back;
  if (!p.front.empty() || w->closed || k.empty() || k.hi == block_size || p.ended_of != nullptr ||
      p.outgoing_count != 0 || w->tick == 1) [[unlikely]]
    return yield_slow(sp);
  nth_desc *n = k.b->slot[k.lo];
  if (state_of(n) != thread_state::ready_again) [[unlikely]]
    return yield_slow(sp);
  nth_desc *d = running();
  --w->tick;
  ++k.lo;
  k.b->slot[k.hi++] = d;
  set_state(d, thread_state::ready_again);
  save_rest(w, d, sp);
  return {restore_rest(w, n), w};
}

// nth_block, nth_try_block.
extern "C" __attribute__((visibility("hidden"))) switch_target nth_pick_block(void *sp) noexcept {
  worker *w = current_worker();
  if (w->id < 0) {
    block_outside();
    return stay(sp, w);
  }
  nth_desc *d = running();
  private_part &p = w->own;
  const std::uint32_t before = dependencies(d);
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
  if (needs_stack(n) && (spare = take_stack(w)) == nullptr) [[unlikely]] {
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
  if (w->id < 0 || !join_in_place(w))
    nth_block_switch();
}

extern "C" NTH_API nth_status nth_try_block(void) {
  worker *w = current_worker();
  if (w->id < 0 && attached() == nullptr)
    return fail(NTH_ESTATE, "nth_try_block: %s", nothing_to_block_on);
  return w->id >= 0 && join_in_place(w) ? NTH_OK : nth_try_block_switch();
}

extern "C" __attribute__((visibility("hidden"))) void nth_block_refused() noexcept {
  misuse(NTH_ENOMEM,
         "nth_block: no stack for the worker to go on with: %ld are in use; raise the limit on memory, "
         "choose a smaller NTH_STACK_SIZE, block fewer threads, or call nth_try_block, which says so",
         the_stacks.allocated());
}

// A creator above the bound of its worker (NTH_BACKLOG): it goes 63 threads beneath the newest, so that
// few creators are suspended at one time (design.md, section 3, backlog). The front window is full.
extern "C" __attribute__((visibility("hidden"))) switch_target nth_pick_make_way(void *sp) noexcept {
  nth_desc *d = self();
  worker *w = current_worker();
  enter(w);
  window &f = w->own.front;
  // A thief may have taken all of it since the caller looked.
  if (f.b == nullptr || f.lo != 0 || f.hi != block_size)
    return stay(sp, w);
  nth_desc *n = f.b->slot[0];
  stack_top *spare = nullptr;
  if (needs_stack(n) && (spare = take_stack(w)) == nullptr) [[unlikely]]
    return stay(sp, w);
  std::memmove(&f.b->slot[0], &f.b->slot[1], (block_size - 1) * sizeof f.b->slot[0]);
  f.b->slot[block_size - 1] = d;
  set_state(d, thread_state::ready_again);
  return suspend(w, d, sp, n, spare);
}

} // namespace nth::detail
