#include "thread/fork.hpp"

#include "arch/arch.hpp"
#include "base/error.hpp"
#include "os/os.hpp"
#include "thread/desc_memory.hpp"
#include "thread/dispatch.hpp"
#include "thread/ready.hpp"
#include "thread/roomy.hpp"

namespace nth::detail {

namespace {

using root_function = void (*)();

nth_spawn_record *next_of(const nth_spawn_record *r) noexcept {
  return __atomic_load_n(&r->next, __ATOMIC_RELAXED);
}

void set_bottom(worker *w, nth_spawn_record *r) noexcept {
  __atomic_store_n(&w->fork.bottom, r, __ATOMIC_RELEASE);
}

// The root of a call that has become a thread.
void run_shared(long at) {
  auto *r = reinterpret_cast<nth_spawn_record *>(at);
  r->value = r->function(r->value);
  finish_spawned(r);
}

} // namespace

bool is_shared_call(const nth_desc *d, const nth_spawn_record *r) noexcept {
  return d->root == reinterpret_cast<root_function>(run_shared) && d->args[0] == reinterpret_cast<long>(r);
}

nth_desc *make_shared(worker *w, nth_spawn_record *r) noexcept {
  nth_desc *d = take_desc(w);
  if (d == nullptr)
    return nullptr;
  prepare_desc(d, reinterpret_cast<root_function>(run_shared), nullptr, 0, 0);
  d->args[0] = reinterpret_cast<long>(r);
  set_state(d, thread_state::ready_fresh);
  __atomic_store_n(&r->state, spawn_shared, __ATOMIC_RELEASE);
  return d;
}

// Once a record that was the youngest has been given away, its owner may be at the very step that pops it, and
// have read the old bottom: until it has looked, nothing more may be taken, and it must find that it is to look
// (request_barred). An owner that is elsewhere looks at `request` after it has popped anything younger, and so
// reads the new bottom before it comes to the record.
nth_desc *offer_spawned(worker *w, worker *of, share_of how) noexcept {
  if (of != w && (of->request.load(std::memory_order_relaxed) & request_barred) != 0)
    return nullptr;
  for (;;) {
    const nth_spawn_record *top = __atomic_load_n(&of->fork.top, __ATOMIC_ACQUIRE);
    if (top == of->fork.bottom)
      return nullptr;
    nth_spawn_record *r = next_of(of->fork.bottom);
    const bool range = is_range(r);
    if (of == w && r == w->keep) { // its owner is about to have it
      if (!range)
        return nullptr;
      how = share_of::keep_one;
    }
    nth_desc *d = nullptr;
    bool spent = true;
    if (!range) {
      d = make_shared(w, r);
      if (d == nullptr)
        return nullptr;
    } else {
      const range_offer o = offer_range(r, how);
      if (!o.any && !o.spent)
        return nullptr;
      if (o.any) {
        d = take_desc(w);
        if (d == nullptr)
          return nullptr;
        share_range(r, d, o);
        set_state(d, thread_state::ready_fresh);
      }
      spent = o.spent;
    }
    if (spent) {
      set_bottom(of, r);
      if (r == top && of != w)
        of->request.fetch_or(request_barred, std::memory_order_seq_cst);
    }
    if (d != nullptr)
      return d;
  }
}

bool share_all_spawned(worker *w) noexcept {
  while (any_spawned(w)) {
    nth_desc *d = offer_spawned(w, w, share_of::all);
    if (d != nullptr)
      push_front(w, d);
    else if (any_spawned(w))
      return false;
  }
  reset_spawned(w);
  return true;
}

void reset_spawned(worker *w) noexcept {
  nth_spawn_record *none = &w->fork.none;
  set_bottom(w, none);
  __atomic_store_n(&w->fork.top, none, __ATOMIC_RELEASE);
}

// Records that were forgotten in frames that have ended may form a ring.
constexpr long most_records = 1L << 27;

bool is_private(const worker *w, const nth_spawn_record *r) noexcept {
  long seen = 0;
  for (const nth_spawn_record *i = w->fork.top; i != w->fork.bottom && seen < most_records;
       i = i->prev, ++seen) {
    if (i == r)
      return true;
  }
  return false;
}

void unlink_private(worker *w, nth_spawn_record *r) noexcept {
  if (w->fork.top == r) {
    __atomic_store_n(&w->fork.top, r->prev, __ATOMIC_RELEASE);
    return;
  }
  nth_spawn_record *younger = next_of(r);
  younger->prev = r->prev;
  __atomic_store_n(&r->prev->next, younger, __ATOMIC_RELAXED);
}

void unlink_shared(worker *w, nth_spawn_record *r) noexcept {
  nth_fork &f = w->fork;
  if (f.bottom != r)
    return; // older ones are reached by nobody
  if (f.top == r)
    return reset_spawned(w);
  nth_spawn_record *younger = next_of(r);
  younger->prev = &f.none;
  __atomic_store_n(&f.none.next, younger, __ATOMIC_RELAXED);
  set_bottom(w, &f.none);
}

void answer_and_share() noexcept {
  roomy(current_worker(), [] {
    worker *w = current_worker();
    enter(w);
    leave_sharing(w);
  });
}

// ---- Waiting for a shared call --------------------------------------------------------------------------

namespace {

void wake(nth_desc *waiter) noexcept {
  worker *w = current_worker();
  enter(w);
  make_ready(w, waiter, queue_end::front);
  leave_sharing(w);
}

} // namespace

void finish_spawned(nth_spawn_record *r) noexcept {
  // The last touch: the frame may be gone after it.
  const unsigned long was = __atomic_exchange_n(&r->state, spawn_done, __ATOMIC_ACQ_REL);
  if (was != spawn_shared)
    wake(reinterpret_cast<nth_desc *>(was));
}

void publish_waiter(worker *w) noexcept {
  nth_spawn_record *r = w->waits_for;
  nth_desc *d = w->waiter;
  w->waits_for = nullptr;
  unsigned long expected = spawn_shared;
  // From the exchange on it may run anywhere.
  if (!__atomic_compare_exchange_n(&r->state, &expected, reinterpret_cast<unsigned long>(d), false,
                                   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    wake(d);
}

// Frames are small here, and split, for NTH_CALL_STACK holds for nth_sync.
namespace {

[[gnu::cold, gnu::noinline]] void complain_of_no_stack() noexcept {
  roomy(current_worker(), [] {
    misuse(NTH_ENOMEM,
           "nth_sync: no stack for the worker to go on with: %ld are in use; raise the limit on memory, "
           "choose a smaller NTH_STACK_SIZE, or block fewer threads",
           the_stacks.allocated());
  });
}

[[gnu::cold, gnu::noinline]] void wait_without_stack(nth_spawn_record *r) noexcept {
  std::uint32_t tries = 0;
  constexpr std::uint32_t tries_before_complaint = 10'000;
  do {
    if (++tries % tries_before_complaint == 0)
      complain_of_no_stack();
    // A thread that has been suspended before can go on without a further stack.
    nth_yield();
    os::yield_processor();
  } while (state_of(r) != spawn_done && nth_wait_spawned(r) != 0);
}

} // namespace

void wait_spawned(nth_spawn_record *r) noexcept {
  constexpr int patience = 30; // pauses: about what a switch costs
  for (int i = 0; i < patience && the_runtime.workers > 1; ++i) {
    if (state_of(r) == spawn_done)
      return;
    os::pause();
  }
  if (state_of(r) != spawn_done && nth_wait_spawned(r) != 0)
    wait_without_stack(r);
}

namespace {

void say_forgotten(const char *who, const nth_desc *d, const char *what) noexcept {
  char name[160];
  describe_function(reinterpret_cast<const void *>(d->root), name, sizeof name);
  misuse(NTH_ESTATE,
         "%s of thread %p (root %s) %s with a spawned call that was not synced: each nth_spawn needs its "
         "nth_sync "
         "before the frame of its record ends; the call is lost",
         who, static_cast<const void *>(d), name, what);
}

} // namespace

void report_forgotten(worker *w, const nth_desc *d) noexcept {
  enter(w);
  reset_spawned(w);
  leave_sharing(w);
  say_forgotten("the root", d, "has returned");
}

void report_forgotten_in_loop(worker *w, nth_spawn_record *r) noexcept {
  enter(w);
  // r's frame and those of older records live. Where none of them is the bottom, it is one that was forgotten, and
  // they are shared.
  const nth_spawn_record *older = r;
  while (older != w->fork.bottom && older != &w->fork.none)
    older = older->prev;
  if (older == w->fork.bottom)
    __atomic_store_n(&w->fork.top, r, __ATOMIC_RELEASE);
  else
    reset_spawned(w);
  leave_sharing(w);
  say_forgotten("a loop", self(), "has made a call that returned");
}

} // namespace nth::detail
