// Threads: creating, enqueueing, waking.
#include "arch/arch.hpp"
#include "base/error.hpp"
#include "c_api/check.hpp"
#include "thread/outside.hpp"
#include "thread/ready.hpp"

#include <cerrno>
#include <cstdarg>

using namespace nth::detail;

namespace {

bool up() noexcept { return the_runtime.up.load(std::memory_order_acquire); }

[[gnu::cold, gnu::noinline]] nth_desc *refuse_creation(const char *call, const char *wrong) noexcept {
  misuse(NTH_EINVAL, "%s: %s", call, wrong);
  errno = EINVAL;
  return nullptr;
}

[[gnu::cold, gnu::noinline]] nth_desc *no_memory(const char *call) noexcept {
  static_cast<void>(fail(NTH_ENOMEM,
                         "%s: no memory for a descriptor; %ld are in use or wait to be used again", call,
                         count_descriptors()));
  errno = ENOMEM;
  return nullptr;
}

[[gnu::noinline]] nth_desc *create_checked(const char *call, const creation &c) noexcept {
  if (const char *wrong = wrong_creation(c.root, c.ndep, c.nsucc, c.narg, c.args))
    return refuse_creation(call, wrong);
  if (c.nsucc > 0 && c.succ == nullptr)
    return refuse_creation(call, "the array of successors is NULL");
  for (int i = 0; i < c.nsucc; ++i) {
    if (c.succ[i] == nullptr)
      return refuse_creation(call, "a successor is NULL");
  }
  nth_desc *d = nullptr;
  if (worker *w = worker_or_null()) {
    d = create_thread(w, c);
  } else if (up()) {
    outside_scope outside;
    d = create_thread(outside.get(), c);
  } else {
    misuse(NTH_ESTATE, "%s: the run-time is not up; call nth_init first", call);
    errno = EINVAL;
    return nullptr;
  }
  return d != nullptr ? d : no_memory(call);
}

// ---- Enqueueing ----

[[gnu::cold, gnu::noinline]] void refuse_enqueue(const char *call, int which, nth_desc *d) noexcept {
  if (!up())
    return misuse(NTH_ESTATE, "%s: the run-time is not up; call nth_init first", call);
  if (which < 0 || which >= the_runtime.workers)
    return misuse(NTH_EINVAL, "%s: unknown worker %d; workers are 0 to %d", call, which,
                  the_runtime.workers - 1);
  if (d == nullptr)
    return misuse(NTH_EINVAL, "%s: the thread is NULL; nth_create answers NULL when there is no memory",
                  call);
  char name[160];
  describe_function(reinterpret_cast<const void *>(d->root), name, sizeof name);
  const thread_state s = state_of(d);
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

[[gnu::noinline]] void enqueue_outside(const char *call, int which, nth_desc *d, queue_end end) noexcept {
  block *b = take_block_outside();
  if (b == nullptr)
    return misuse(NTH_ENOMEM, "%s: no memory to hand a thread over; it is not enqueued, try again", call);
  set_state(d, thread_state::ready_fresh);
  send_outside(which, d, b, end);
}

// The bound on waiting threads (NTH_BACKLOG) is looked at when a block has been filled.
inline bool over_backlog(const worker *w) noexcept {
  return w->own.front.lo == 0 && the_runtime.backlog_blocks != 0 &&
         static_cast<std::uint64_t>(ready_blocks(w)) + 1 >= the_runtime.backlog_blocks;
}

// Everything but the common case: to another worker, from a kernel thread that is none, a block that is
// full, a request that waits, a mistake.
template <queue_end End>
[[gnu::noinline]] void enqueue(const char *call, int which, nth_desc *d) noexcept {
  if (static_cast<unsigned>(which) >= static_cast<unsigned>(the_runtime.workers) || d == nullptr ||
      state_of(d) != thread_state::created || dependencies(d) != 0) [[unlikely]]
    return refuse_enqueue(call, which, d);
  worker *w = worker_or_null();
  if (w == nullptr) [[unlikely]]
    return enqueue_outside(call, which, d, End);
  set_state(d, thread_state::ready_fresh);
  enter(w);
  bool too_many = false;
  if (which != w->id) {
    push_outgoing(w, which, d, End);
  } else if (End == queue_end::back) {
    push_back(w, d);
  } else {
    push_front(w, d);
    too_many = over_backlog(w);
  }
  leave_sharing(w);
  if (too_many) [[unlikely]]
    nth_make_way();
}

inline bool may_enqueue(const nth_desc *d) noexcept {
  return d != nullptr && state_of(d) == thread_state::created &&
         __atomic_load_n(&d->ndep, __ATOMIC_RELAXED) == 0;
}

} // namespace

// nth_create_ls by its other name: two words of `...` are named, for on System V x86-64 they travel as
// named ones do, and naming all six register arguments spares the area in which a function with variable
// arguments saves them.
extern "C" NTH_API nth_desc *create_ls_words(void (*root)(), int ndep, nth_desc *succ, int narg, long word0,
                                             long word1, ...) __asm__("nth_create_ls");

namespace {

[[gnu::noinline]] nth_desc *create_ls_slow(void (*root)(), int ndep, nth_desc *succ, int narg, long word0,
                                           long word1, va_list rest) noexcept {
  long words[NTH_MAX_ARGS] = {word0, word1};
  for (int i = 2; i < narg && i < NTH_MAX_ARGS; ++i)
    words[i] = va_arg(rest, long);
  return create_checked("nth_create_ls", {root, ndep, succ != nullptr ? 1 : 0, &succ, narg, words});
}

} // namespace

nth_desc *create_ls_words(void (*root)(), int ndep, nth_desc *succ, int narg, long word0, long word1, ...) {
  worker *w = current_worker();
  if (static_cast<unsigned>(narg) > 2 || w->free_count == 0 || root == nullptr ||
      static_cast<unsigned>(ndep) > NTH_MAX_DEPENDENCIES) [[unlikely]] {
    va_list rest;
    va_start(rest, word1);
    nth_desc *d = create_ls_slow(root, ndep, succ, narg, word0, word1, rest);
    va_end(rest);
    return d;
  }
  nth_desc *d = take_desc(w);
  d->args[0] = word0;
  d->args[1] = word1;
  prepare_desc(d, root, succ, ndep, 0);
  return d;
}

extern "C" NTH_API nth_desc *nth_create_ls_v(void (*root)(), int ndep, nth_desc *succ, int narg,
                                             const long *args) {
  return create_checked("nth_create_ls", {root, ndep, succ != nullptr ? 1 : 0, &succ, narg, args});
}

extern "C" NTH_API nth_desc *nth_create_v(void (*root)(), int ndep, int nsucc, nth_desc *const *succ,
                                          int narg, const long *args) {
  return create_checked("nth_create", {root, ndep, nsucc, succ, narg, args});
}

extern "C" NTH_API nth_desc *nth_create(void (*root)(), int ndep, int nsucc, int narg, ...) {
  nth_desc *succ[NTH_MAX_SUCCESSORS];
  long words[NTH_MAX_ARGS];
  va_list list;
  va_start(list, narg);
  if (nsucc <= NTH_MAX_SUCCESSORS && narg <= NTH_MAX_ARGS) {
    for (int i = 0; i < nsucc; ++i)
      succ[i] = va_arg(list, nth_desc *);
    for (int i = 0; i < narg; ++i)
      words[i] = va_arg(list, long);
  }
  va_end(list);
  return create_checked("nth_create", {root, ndep, nsucc, succ, narg, words});
}

namespace {

[[gnu::noinline]] void depadd_checked(nth_desc *d, long n) noexcept {
  if (d == nullptr || n < 0 || n > NTH_MAX_DEPENDENCIES) [[unlikely]]
    return misuse(NTH_EINVAL, "nth_depadd: %s",
                  d == nullptr ? "the thread is NULL"
                               : "the number of dependencies is negative or above NTH_MAX_DEPENDENCIES");
  const thread_state s = state_of(d);
  if (s != thread_state::created && s != thread_state::outside && d != self()) [[unlikely]] {
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

} // namespace

extern "C" NTH_API void nth_depadd(nth_desc *d, long n) {
  // The common case: by the caller to itself, from zero. Nobody else has a claim on a count of zero, so
  // nobody else may change it, and no locked instruction is needed.
  if (current_worker()->id >= 0 && d == running() && static_cast<unsigned long>(n) <= NTH_MAX_DEPENDENCIES &&
      dependencies(d) == 0) [[likely]] {
    __atomic_store_n(&d->ndep, static_cast<std::uint32_t>(n), __ATOMIC_RELAXED);
    return;
  }
  depadd_checked(d, n);
}

extern "C" NTH_API void nth_to_lrq(int which, nth_desc *d) {
  worker *w = current_worker();
  window &f = w->own.front;
  if (which != w->id || !may_enqueue(d)) [[unlikely]]
    return enqueue<queue_end::front>("nth_to_lrq", which, d);
  // The push that fills a block is left to the slow path too, which looks at the bound on waiting threads.
  if (!enter_quietly(w) || f.lo < 2) [[unlikely]]
    return enqueue<queue_end::front>("nth_to_lrq", which, d);
  set_state(d, thread_state::ready_fresh);
  f.b->slot[--f.lo] = d;
  leave(w);
}

extern "C" NTH_API void nth_to_lrq_end(int which, nth_desc *d) {
  enqueue<queue_end::back>("nth_to_lrq_end", which, d);
}

extern "C" NTH_API nth_status nth_unblock(nth_handle_t handle) {
  nth_desc *d = handle.thread;
  if (d == nullptr)
    return fail(NTH_EINVAL, "nth_unblock: the handle names no thread");
  if (!up())
    return fail(NTH_ESTATE, "nth_unblock: the run-time is not up");
  worker *w = worker_or_null();
  block *b = nullptr;
  dep_word old = __atomic_load_n(word_of(d), __ATOMIC_ACQUIRE);
  dep_word now = 0;
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
    const int home = the_area.home_of(d);
    send_outside(home < the_runtime.workers ? home : 0, d, b, queue_end::back);
  }
  return NTH_OK;
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

extern "C" NTH_API nth_desc *nth_attach(void) {
  if (!up() || worker_or_null() != nullptr) {
    misuse(NTH_ESTATE, "nth_attach: %s",
           up() ? "the caller is a nano-thread; it has nth_self()"
                : "the run-time is not up; call nth_init first");
    errno = EINVAL;
    return nullptr;
  }
  if (attached() != nullptr) {
    static_cast<void>(fail(NTH_ESTATE, "nth_attach: this kernel thread has a descriptor already"));
    errno = EBUSY;
    return nullptr;
  }
  nth_desc *d = make_outside_desc();
  if (d == nullptr)
    return no_memory("nth_attach");
  set_attached(d);
  return d;
}

extern "C" NTH_API nth_status nth_detach(void) {
  nth_desc *d = attached();
  if (d == nullptr)
    return fail(NTH_ESTATE, "nth_detach: this kernel thread has no descriptor; nth_attach gives one");
  if (dependencies(d) != 0)
    return fail(NTH_EBUSY, "nth_detach: %u dependencies are left; call nth_block first",
                dependencies(d) & dep_count);
  drop_outside_desc(d);
  set_attached(nullptr);
  return NTH_OK;
}
