// Threads: dependencies, enqueueing, waking.
#include "arch/arch.hpp"
#include "base/error.hpp"
#include "c_api/check.hpp"
#include "thread/backlog.hpp"
#include "thread/dispatch.hpp"
#include "thread/outside.hpp"
#include "thread/ready.hpp"
#include "thread/roomy.hpp"

using namespace nth::detail;

// ---- Enqueueing ----

[[gnu::cold, gnu::noinline]] void nth::detail::refuse_enqueue(const char *call, int which,
                                                              nth_desc *d) noexcept {
  if (!up())
    return misuse(NTH_ESTATE, "%s: the run-time is not up; call nth_init first", call);
  if (which < 0 || which >= the_runtime.workers)
    return misuse(NTH_EINVAL, "%s: unknown worker %d; workers are 0 to %d", call, which,
                  the_runtime.workers - 1);
  if (d == nullptr)
    return misuse(NTH_EINVAL, "%s: the thread is NULL; nth_create answers NULL when there is no memory",
                  call);
  const thread_state s = state_of(d);
  if (s == thread_state::member)
    return misuse(NTH_ESTATE,
                  "%s: thread %p is a member of a batch that is not initialised; call nth_batch_create or "
                  "nth_batch_create_ls for it first",
                  call, static_cast<void *>(d));
  char name[160];
  describe_function(reinterpret_cast<const void *>(d->root), name, sizeof name);
  if (s == thread_state::created)
    return misuse(
        NTH_ESTATE,
        "%s: thread %p (root %s) has %u dependencies left; the thread that meets the last one enqueues it",
        call, static_cast<void *>(d), name, dependencies(d) & dep_count);
  misuse(NTH_ESTATE, "%s: thread %p (root %s) %s", call, static_cast<void *>(d), name,
         s == thread_state::free      ? "has ended"
         : s == thread_state::outside ? "stands for a kernel thread, which has no ready queue"
                                      : "is enqueued already or has been started; a thread is enqueued once");
}

namespace {

[[gnu::noinline]] void enqueue_outside(const char *call, int which, nth_desc *d, queue_end end) noexcept {
  block *b = take_block_outside();
  if (b == nullptr)
    return misuse(NTH_ENOMEM, "%s: no memory to hand a thread over; it is not enqueued, try again", call);
  set_state(d, thread_state::ready_fresh);
  send_outside(which, d, b, end);
}

// Into the own queue, private part entered, which it leaves. Where the bound on waiting threads is met, the
// thread is called if that is proved to be safe; else true: the creator is to let others run first.
template <queue_end End>
bool put_here(worker *w, nth_desc *d) noexcept {
  const bool over = fills_window<End>(w) && over_backlog(w);
  if (over && call_new_child(w, d)) [[unlikely]]
    return false;
  if (End == queue_end::back)
    push_back(w, d);
  else
    push_front(w, d);
  leave_sharing(w);
  return over;
}

// Everything but the common case: to another worker, from a kernel thread that is none, a block that is
// full, a request that waits, a mistake. True: the creator is to let others run first.
template <queue_end End>
[[gnu::noinline]] bool enqueue(const char *call, int which, nth_desc *d) noexcept {
  if (static_cast<unsigned>(which) >= static_cast<unsigned>(the_runtime.workers) || d == nullptr ||
      state_of(d) != thread_state::created || dependencies(d) != 0) [[unlikely]] {
    refuse_enqueue(call, which, d);
    return false;
  }
  worker *w = worker_or_null();
  if (w == nullptr) [[unlikely]] {
    enqueue_outside(call, which, d, End);
    return false;
  }
  set_state(d, thread_state::ready_fresh);
  enter(w);
  if (which == w->id || diverts(w, which))
    return put_here<End>(w, d);
  push_outgoing(w, which, d, End);
  leave_sharing(w);
  return false;
}

template <queue_end End>
[[gnu::noinline]] void enqueue_roomy(const char *call, int which, nth_desc *d) noexcept {
  // The creator is suspended where it stands, on its own stack.
  if (roomy(current_worker(), [=] { return enqueue<End>(call, which, d); }) &&
      (flags_of(self()) & flag_no_suspend) == 0)
    nth_make_way(static_cast<int>(End));
}

[[gnu::noinline]] void depadd_checked(nth_desc *d, long n, const nth_desc *caller) noexcept {
  if (d == nullptr || n < 0 || n > NTH_MAX_DEPENDENCIES) [[unlikely]]
    return misuse(NTH_EINVAL, "nth_depadd: %s",
                  d == nullptr ? "the thread is NULL"
                               : "the number of dependencies is negative or above NTH_MAX_DEPENDENCIES");
  const thread_state s = state_of(d);
  if (s == thread_state::member) [[unlikely]]
    return misuse(
        NTH_ESTATE,
        "nth_depadd: thread %p is a member of a batch that is not initialised; initialise it first, or "
        "give nth_batch_create the number",
        static_cast<void *>(d));
  if (s != thread_state::created && s != thread_state::outside && d != caller) [[unlikely]] {
    char name[160];
    return misuse(NTH_ESTATE, "nth_depadd: thread %p (root %s) %s", static_cast<void *>(d),
                  describe_function(reinterpret_cast<const void *>(d->root), name, sizeof name),
                  s == thread_state::free
                      ? "has ended"
                      : "is enqueued or blocked; dependencies are added before that, or by itself");
  }
  const std::uint32_t now = dependencies(d);
  if ((now & dep_count) + n > NTH_MAX_DEPENDENCIES) [[unlikely]]
    return misuse(NTH_EINVAL,
                  "nth_depadd: %ld more than the %u that thread %p has is above NTH_MAX_DEPENDENCIES", n,
                  now & dep_count, static_cast<void *>(d));
  __atomic_fetch_add(&d->ndep, static_cast<std::uint32_t>(n), __ATOMIC_RELAXED);
}

[[gnu::noinline]] void depadd_roomy(nth_desc *d, long n) noexcept {
  roomy(current_worker(), [=, caller = self()] { depadd_checked(d, n, caller); });
}

} // namespace

extern "C" NTH_API void nth_depadd(nth_desc *d, long n) {
  // The common case: by the caller to itself, from zero. Nobody else has a claim on a count of zero, so
  // nobody else may change it, and no locked instruction is needed.
  if (current_worker()->special == 0 && d == running() &&
      static_cast<unsigned long>(n) <= NTH_MAX_DEPENDENCIES && dependencies(d) == 0) [[likely]] {
    __atomic_store_n(&d->ndep, static_cast<std::uint32_t>(n), __ATOMIC_RELAXED);
    return;
  }
  depadd_roomy(d, n);
}

namespace {

// Whether d may be put into the queue of w by a fast path; its state and flags in `was`.
inline bool plain_put(const worker *w, int which, const nth_desc *d, unsigned &was) noexcept {
  if (which != w->id || d == nullptr)
    return false;
  was = state_and_flags(d);
  return (was & 0xff) == static_cast<unsigned>(thread_state::created) &&
         __atomic_load_n(&d->ndep, __ATOMIC_RELAXED) == 0;
}

} // namespace

// The push that fills a block is left to the slow path, which looks at the bound on waiting threads.
extern "C" NTH_API void nth_to_lrq(int which, nth_desc *d) {
  worker *w = current_worker();
  window &f = w->own.front;
  unsigned was = 0;
  if (!plain_put(w, which, d, was) || !enter_quietly(w) || f.lo < 2) [[unlikely]]
    return enqueue_roomy<queue_end::front>("nth_to_lrq", which, d);
  set_ready_fresh(d, was);
  f.b->slot[--f.lo] = d;
  leave(w);
}

extern "C" NTH_API void nth_to_lrq_end(int which, nth_desc *d) {
  worker *w = current_worker();
  window &k = w->own.back;
  unsigned was = 0;
  if (!plain_put(w, which, d, was) || !enter_quietly(w) || k.b == nullptr || k.hi >= block_size - 1)
      [[unlikely]]
    return enqueue_roomy<queue_end::back>("nth_to_lrq_end", which, d);
  set_ready_fresh(d, was);
  k.b->slot[k.hi++] = d;
  leave(w);
}

namespace {

[[gnu::always_inline]] inline nth_status unblock(nth_handle_t handle) noexcept {
  nth_desc *d = handle.thread;
  if (d == nullptr)
    return fail(NTH_EINVAL, "nth_unblock: the handle names no thread");
  if (!up())
    return fail(NTH_ESTATE, "nth_unblock: the run-time is not up");
  worker *w = worker_or_null();
  block *b = nullptr;
  dep_word old = __atomic_load_n(word_of(d), __ATOMIC_ACQUIRE);
  dep_word now = 0;
  if (state_in(old) == thread_state::member) [[unlikely]] // initialising it would write over the token
    return fail(NTH_ESTATE, "nth_unblock: the thread is a member of a batch that is not initialised");
  for (;;) {
    if (generation_in(old) != handle.generation || state_in(old) == thread_state::free) {
      if (b != nullptr)
        give_block_outside(b);
      return fail(NTH_ESTALE, "nth_unblock: the thread has ended");
    }
    const bool waits = (ndep_in(old) & dep_waiting) != 0;
    // What is needed to enqueue it comes first, so that a lack of memory changes nothing.
    if (waits && w == nullptr && b == nullptr && state_in(old) != thread_state::outside) {
      b = take_block_outside();
      if (b == nullptr)
        return fail(NTH_ENOMEM, "nth_unblock: no memory to hand the thread over; it waits on, try again");
    }
    now = waits ? (old & ~dep_word{dep_waiting}) - 1 : old | token_in_word;
    if (__atomic_compare_exchange_n(word_of(d), &old, now, true, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
      break;
  }
  const bool waited = (ndep_in(old) & dep_waiting) != 0;
  if (!waited || ndep_in(now) != 0) {
    if (b != nullptr)
      give_block_outside(b);
    // Its own dependency is not posted yet: its worker does so sooner or later, and a sleeping one would
    // fetch it when that worker is in a long thread.
    if (waited && the_runtime.searching.load(std::memory_order_seq_cst) == 0)
      wake_one(nullptr);
    return NTH_OK;
  }
  if (w != nullptr) {
    enter(w);
    make_ready(w, d, queue_end::back);
    leave_sharing(w);
  } else if (state_of(d) == thread_state::outside) {
    make_ready(nullptr, d, queue_end::back);
  } else {
    set_state(d, thread_state::ready_again);
    const int home = the_runtime.worker_of_home[the_area.home_of(d)];
    send_outside(home < the_runtime.workers ? home : 0, d, b, queue_end::back);
  }
  return NTH_OK;
}

[[gnu::noinline]] nth_status unblock_roomy(nth_handle_t handle) noexcept {
  return roomy(current_worker(), [=] { return unblock(handle); });
}

} // namespace

extern "C" NTH_API nth_status nth_unblock(nth_handle_t handle) {
  if (current_worker()->special == special_class) [[unlikely]]
    return unblock_roomy(handle);
  return unblock(handle);
}

extern "C" NTH_API void nth_keep_fp(int on) {
  nth_desc *d = self();
  if (d == nullptr)
    return misuse(NTH_ESTATE, "nth_keep_fp: the caller is no nano-thread");
  if (on != 0) {
    __atomic_fetch_or(&d->flags, flag_keep_fp, __ATOMIC_RELAXED);
  } else {
    __atomic_fetch_and(&d->flags, static_cast<std::uint8_t>(~flag_keep_fp), __ATOMIC_RELAXED);
    arch::write_fp(arch::standard_fp);
  }
}
