// nth_spawn and nth_sync. The order of the steps on the fast paths is what keeps thieves off without a fence:
// doc/fork-join.md.
#include "base/error.hpp"
#include "memory/annotate.hpp"
#include "thread/desc_memory.hpp"
#include "thread/dispatch.hpp"
#include "thread/fork.hpp"
#include "thread/needs.hpp"
#include "thread/ready.hpp"
#include "thread/roomy.hpp"

using namespace nth::detail;

namespace {

[[gnu::noinline]] void spawn_refused(nth_spawn_record *r) noexcept {
  if (r != nullptr && r->function != nullptr) {
    r->state = spawn_outside;
    return;
  }
  roomy(current_worker(), [] { misuse(NTH_EINVAL, "nth_spawn: the record or the function is NULL"); });
}

enum class way { done, call, call_on_fresh_stack, wait, wrong };

// Whether r may be called where rsp is `sp`. Half of a stack is promised to each child; on small stacks only
// calls whose need is proved. Stubs take a segment when they need one.
bool fits(const nth_spawn_record *r, std::uintptr_t sp) noexcept {
  const stack_top *top = top_of(sp);
  const std::size_t size = stack_size_of(top);
  if (asks_for_itself(reinterpret_cast<void (*)()>(r->function), sp))
    return true;
  const std::uintptr_t room = sp - stack_bottom(top) - the_stacks.guard_size(region_of_stack(top));
  if (size >= least_unproved_stack)
    return room >= size / 2;
  const need_entry *e = the_needs.find(reinterpret_cast<void (*)()>(r->function));
  return e != nullptr && e->need + NTH_CALL_STACK <= static_cast<long>(room);
}

// A shared call that would run next on this worker is taken back. Private part entered.
bool take_back(worker *w, const nth_spawn_record *r) noexcept {
  window &f = w->own.front;
  if (f.empty() || !is_shared_call(f.b->slot[f.lo], r))
    return false;
  nth_desc *d = f.b->slot[f.lo++];
  retire(d);
  release_desc(w, d);
  return true;
}

// What is to be done about r; what it says to call is the caller's alone.
way settle(nth_spawn_record *r, std::uintptr_t sp) noexcept {
  worker *w = current_worker();
  if (r == nullptr)
    return way::wrong;
  const unsigned long state = state_of(r);
  if (state == spawn_outside) {
    r->state = spawn_synced;
    return way::call;
  }
  if (w->id < 0)
    return way::wrong;
  bool mine = false;
  w->keep = r; // not to be offered just now
  enter(w);
  w->keep = nullptr;
  if (state_of(r) == spawn_private) {
    mine = is_private(w, r);
    if (mine)
      unlink_private(w, r);
  } else if (state_of(r) == spawn_shared) {
    mine = take_back(w, r);
    unlink_shared(w, r);
  } else {
    unlink_shared(w, r);
  }
  const bool here = mine && fits(r, sp);
  // A sanitizer knows of no thread on two stacks: there, such a child is a thread of its own.
  if (annotate::on && mine && !here) {
    nth_desc *d = make_shared(w, r);
    if (d != nullptr)
      push_front(w, d);
    mine = d == nullptr;
  }
  leave_sharing(w);
  if (mine) {
    __atomic_store_n(&r->state, spawn_synced, __ATOMIC_RELAXED);
    return here ? way::call : way::call_on_fresh_stack;
  }
  const unsigned long now = state_of(r);
  return now == spawn_done ? way::done : now == spawn_shared ? way::wait : way::wrong;
}

// The call goes on a further stack of the same thread: its frames, and what it suspends, are there.
[[gnu::noinline]] stack_top *further_stack(std::uintptr_t sp) noexcept {
  return roomy(current_worker(), [=] {
    worker *w = current_worker();
    const stack_top *here = top_of(sp);
    const unsigned r = region_of_stack(here);
    stack_top *s = stack_size_of(here) < least_unproved_stack ? take_stack(w) : take_stack(w, r);
    if (s == nullptr) {
      misuse(NTH_ENOMEM,
             "nth_sync: no further stack for a spawned call: %ld are in use; raise the limit on memory, or "
             "choose "
             "larger stacks",
             the_stacks.allocated());
      return s;
    }
    s->thread = here->thread;
    return s;
  });
}

[[gnu::noinline]] long call_on_fresh_stack(nth_spawn_record *r) {
  stack_top *s = further_stack(stack_pointer());
  if (s == nullptr)
    return r->function(r->value);
  follow_stack(current_worker(), s);
  // Under dos the place below is a descriptor's, as in loop_context.
  nth_arch_call_on(
      the_runtime.policy == NTH_POLICY_DOS ? reinterpret_cast<nth_desc *>(s) - 1 : first_frame(s),
      [](void *at) noexcept {
        auto *record = static_cast<nth_spawn_record *>(at);
        record->value = record->function(record->value);
      },
      r);
  const long value = r->value;
  follow_stack(current_worker(), reinterpret_cast<void *>(stack_pointer()));
  s->heap = 0; // the heap may end before the stack is used again
  roomy(current_worker(), [=] { give_stack(current_worker(), s); });
  return value;
}

[[gnu::noinline]] long sync_slow(nth_spawn_record *r) {
  const std::uintptr_t sp = stack_pointer();
  switch (roomy(current_worker(), [=] { return settle(r, sp); })) {
  case way::call:
    return r->function(r->value);
  case way::call_on_fresh_stack:
    return call_on_fresh_stack(r);
  case way::wait:
    wait_spawned(r);
    r->state = spawn_synced;
    return r->value;
  case way::done:
    r->state = spawn_synced;
    return r->value;
  case way::wrong:
    break;
  }
  roomy(current_worker(), [] {
    misuse(NTH_ESTATE,
           "nth_sync: the record is NULL, was not spawned by this thread, or has been synced already");
  });
  return 0;
}

} // namespace

extern "C" NTH_API void nth_fork_answer(void) { answer_and_share(); }

extern "C" NTH_API void nth_spawn(nth_spawn_record *r, long (*function)(long), long argument) {
  if (r == nullptr) [[unlikely]]
    return spawn_refused(r);
  worker *w = current_worker();
  nth_spawn_record *prev = w->fork.top;
  r->function = function;
  r->value = argument;
  r->state = spawn_private;
  if (prev == nullptr || function == nullptr) [[unlikely]]
    return spawn_refused(r);
  r->prev = prev;
  __atomic_store_n(&prev->next, r, __ATOMIC_RELAXED);
  __atomic_store_n(&w->fork.top, r, __ATOMIC_RELEASE);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (w->request.load(std::memory_order_acquire) != 0) [[unlikely]]
    answer_and_share();
}

extern "C" NTH_API long nth_sync(nth_spawn_record *r) {
  worker *w = current_worker();
  if (w->fork.top == r && __atomic_load_n(&w->fork.bottom, __ATOMIC_RELAXED) != r) [[likely]] {
    __atomic_store_n(&w->fork.top, r->prev, __ATOMIC_RELAXED);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (w->request.load(std::memory_order_acquire) == 0 && (stack_pointer() & w->fork_mask) >= w->fork.floor)
        [[likely]]
      return r->function(r->value);
    __atomic_store_n(&w->fork.top, r, __ATOMIC_RELAXED);
  }
  return sync_slow(r);
}
