// Batches of threads: paper 003, section 4.1.
#include "thread/batch.hpp"

#include "arch/arch.hpp"
#include "base/error.hpp"
#include "c_api/check.hpp"
#include "thread/backlog.hpp"
#include "thread/outside.hpp"
#include "thread/roomy.hpp"

#include <cerrno>

using namespace nth::detail;

namespace {

// ---- Descriptors ----

[[gnu::noinline]] nth_desc *get_desc_checked(nth_desc **last, long n) noexcept {
  constexpr const char *call = "nth_batch_get_desc";
  if (last != nullptr)
    *last = nullptr;
  if (last == nullptr || n < 0 || !up()) {
    errno = EINVAL;
    if (last == nullptr)
      misuse(NTH_EINVAL, "%s: the place for the last member is NULL", call);
    else if (n < 0)
      misuse(NTH_EINVAL, "%s: the number of threads is negative: %ld", call, n);
    else
      misuse(NTH_ESTATE, "%s: the run-time is not up; call nth_init first", call);
    errno = EINVAL;
    return nullptr;
  }
  if (n == 0)
    return nullptr;
  if (static_cast<std::size_t>(n) > the_area.size / sizeof(nth_desc))
    return no_memory(call); // before it is sought, page by page
  nth_desc *first = nullptr;
  if (worker *w = worker_or_null()) {
    first = take_linked_descs(w, n, last);
  } else {
    outside_scope outside;
    first = take_linked_descs(outside.get(), n, last);
  }
  return first != nullptr ? first : no_memory(call);
}

[[gnu::noinline]] nth_desc *get_desc_roomy(nth_desc **last, long n) noexcept {
  return roomy(current_worker(), [=] { return get_desc_checked(last, n); });
}

// ---- Members ----

[[gnu::cold, gnu::noinline]] void refuse_member(const char *call, nth_desc *d) noexcept {
  if (!up())
    return misuse(NTH_ESTATE, "%s: the run-time is not up; call nth_init first", call);
  if (d == nullptr)
    return misuse(NTH_EINVAL,
                  "%s: the thread is NULL; nth_batch_get_desc answers NULL when there is no memory", call);
  const thread_state s = state_of(d);
  misuse(NTH_ESTATE, "%s: thread %p %s", call, static_cast<void *>(d),
         s == thread_state::free || s == thread_state::spill ? "is no member of a batch, or has ended"
         : s == thread_state::created ? "has been initialised already, or was made by nth_create"
         : s == thread_state::outside ? "stands for a kernel thread"
                                      : "is enqueued or has been started");
}

[[gnu::noinline]] void init_checked(const char *call, nth_desc *d, const creation &c) noexcept {
  if (!up() || d == nullptr || state_of(d) != thread_state::member)
    return refuse_member(call, d);
  if (const char *wrong = wrong_creation(c))
    return misuse(NTH_EINVAL, "%s: %s", call, wrong);
  if (the_runtime.strict && is_refused(c.root)) [[unlikely]] {
    char why[400];
    return misuse(NTH_EINVAL, "%s: %s", call, describe_refusal(c.root, why, sizeof why));
  }
  bool done = false;
  if (worker *w = worker_or_null()) {
    done = init_thread(w, d, c);
  } else {
    outside_scope outside;
    done = init_thread(outside.get(), d, c);
  }
  if (!done)
    misuse(NTH_ENOMEM,
           "%s: no memory for more than four words or more than one successor; thread %p is not initialised, "
           "try again",
           call, static_cast<void *>(d));
}

// One word is captured: the frame of this lies on the caller's stack.
inline void init_roomy(const char *call, nth_desc *d, const creation &c) noexcept {
  struct {
    const char *call;
    nth_desc *d;
    const creation *c;
  } const it{call, d, &c};
  roomy(current_worker(), [&it] { init_checked(it.call, it.d, *it.c); });
}

} // namespace

extern "C" NTH_API nth_desc *nth_batch_get_desc(nth_desc **last, long n) {
  worker *w = current_worker();
  // Zero and less are more than there is.
  if (last == nullptr || static_cast<unsigned long>(n) - 1 >= w->free_count) [[unlikely]]
    return get_desc_roomy(last, n);
  nth_desc *first = link_from_window(w, static_cast<std::uint32_t>(n), last);
  w->batch_last = *last;
  w->batch_size = static_cast<std::uint32_t>(n);
  return first;
}

// nth_batch_create_ls itself is in entries.S, as nth_create_ls is. It does what is common, and goes on here with up
// to two words.
extern "C" __attribute__((visibility("hidden"))) void nth_batch_create_ls_two(nth_desc *d, void (*root)(),
                                                                              int ndep, nth_desc *succ,
                                                                              int narg, long word0,
                                                                              long word1) {
  const long words[2] = {word0, word1};
  init_roomy("nth_batch_create_ls", d, {root, ndep, succ != nullptr ? 1 : 0, &succ, narg, words});
}

// And here with any other number of them, a wrong one too.
extern "C" __attribute__((visibility("hidden"))) void nth_batch_create_ls_many(nth_desc *d, void (*root)(),
                                                                               int ndep, nth_desc *succ,
                                                                               int narg, ...) {
  va_list list;
  va_start(list, narg);
  roomy(current_worker(), [&] {
    long words[NTH_MAX_ARGS];
    for (int i = 0; i < narg && narg <= NTH_MAX_ARGS; ++i)
      words[i] = va_arg(list, long);
    init_checked("nth_batch_create_ls", d, {root, ndep, succ != nullptr ? 1 : 0, &succ, narg, words});
  });
  va_end(list);
}

extern "C" NTH_API void nth_batch_create(nth_desc *d, void (*root)(), int ndep, int nsucc, int narg, ...) {
  va_list list;
  va_start(list, narg);
  roomy(current_worker(), [&] {
    read_listed(root, ndep, nsucc, narg, list,
                [d](const creation &c) { init_checked("nth_batch_create", d, c); });
  });
  va_end(list);
}

extern "C" NTH_API void nth_batch_create_ls_v(nth_desc *d, void (*root)(), int ndep, nth_desc *succ, int narg,
                                              const long *args) {
  init_roomy("nth_batch_create_ls", d, {root, ndep, succ != nullptr ? 1 : 0, &succ, narg, args});
}

extern "C" NTH_API void nth_batch_create_v(nth_desc *d, void (*root)(), int ndep, int nsucc,
                                           nth_desc *const *succ, int narg, const long *args) {
  init_roomy("nth_batch_create", d, {root, ndep, nsucc, succ, narg, args});
}

// ---- Enqueueing ----

namespace {

inline bool may_go(const nth_desc *d) noexcept {
  return state_of(d) == thread_state::created && __atomic_load_n(&d->ndep, __ATOMIC_RELAXED) == 0;
}

// The number of members; 0: the batch was refused. A chain of more than all descriptors there ever were has a loop:
// its links are of an earlier use.
[[gnu::noinline]] long count_batch(const char *call, int which, nth_desc *first,
                                   const nth_desc *last) noexcept {
  if (!up() || which < 0 || which >= the_runtime.workers) {
    refuse_enqueue(call, which, first);
    return 0;
  }
  if (first == nullptr || last == nullptr) {
    misuse(NTH_EINVAL, "%s: the %s member is NULL and the other is not", call,
           first == nullptr ? "first" : "last");
    return 0;
  }
  const long most = descs_most();
  long n = 0;
  for (nth_desc *d = first; d != nullptr && n < most; d = d->next) {
    if (!may_go(d)) {
      refuse_enqueue(call, which, d);
      return 0;
    }
    ++n;
    if (d != last)
      continue;
    if (d->next == nullptr)
      return n;
    misuse(NTH_EINVAL,
           "%s: thread %p, given as the last, has a member behind it; a batch is enqueued as a whole", call,
           static_cast<const void *>(last));
    return 0;
  }
  misuse(NTH_EINVAL,
         "%s: thread %p, given as the last, is not reachable from the first, %p; none is enqueued", call,
         static_cast<const void *>(last), static_cast<const void *>(first));
  return 0;
}

// The size of a batch for the fast path, which checks it; a guess that is wrong costs time.
inline long size_of(const worker *w, const nth_desc *first, const nth_desc *last) noexcept {
  if (last == w->batch_last) [[likely]]
    return w->batch_size;
  long n = 1;
  for (const nth_desc *d = first; d != nullptr && d != last && n < static_cast<long>(block_size); d = d->next)
    ++n;
  return n;
}

// Everything but the common case, as in threads.cpp. True: the creator is to let others run first.
template <queue_end End>
bool enqueue(const char *call, int which, nth_desc *first, nth_desc *last) noexcept {
  if (first == nullptr && last == nullptr)
    return false;
  worker *w = worker_or_null();
  if (w != nullptr && static_cast<unsigned>(which) < static_cast<unsigned>(the_runtime.workers)) {
    enter(w);
    const put_result r = put_plain_batch<End>(w, which, first, last, size_of(w, first, last));
    leave_sharing(w);
    if (r != put_result::none)
      return r == put_result::over;
  }
  const long n = count_batch(call, which, first, last);
  if (n == 0)
    return false;
  if (w == nullptr) {
    if (!send_batch_outside(which, first, n, End))
      misuse(NTH_ENOMEM, "%s: no memory to hand %ld threads over; none is enqueued, try again", call, n);
    return false;
  }
  bool over = false;
  enter(w);
  if (which == w->id || diverts(w, which, n))
    over = put_batch<End>(w, first);
  else
    send_batch<End>(w, which, first);
  leave_sharing(w);
  return over;
}

// The creator is suspended where it stands, on its own stack. What the batch has put in front of it may be less than
// what it has put into the queue, so it makes way again until no more waits than may.
[[gnu::noinline]] void make_way(queue_end end) noexcept {
  if ((flags_of(self()) & flag_no_suspend) != 0)
    return;
  nth_make_way(static_cast<int>(end));
  while (roomy(current_worker(), [] { return backlog_is_left(current_worker()); }))
    nth_make_way(static_cast<int>(queue_end::front));
}

template <queue_end End>
[[gnu::noinline]] void enqueue_roomy(const char *call, int which, nth_desc *first, nth_desc *last) noexcept {
  struct {
    const char *call;
    int which;
    nth_desc *first;
    nth_desc *last;
  } const it{call, which, first, last};
  if (roomy(current_worker(), [&it] { return enqueue<End>(it.call, it.which, it.first, it.last); }))
      [[unlikely]]
    make_way(End);
}

// A batch has filled the window.
template <queue_end End>
[[gnu::noinline]] void after_filling() noexcept {
  const bool over = roomy(current_worker(), [] {
    worker *w = current_worker();
    enter(w);
    const bool is_over = holds_many<End>(w) && over_backlog(w);
    leave_sharing(w);
    return is_over;
  });
  if (over) [[unlikely]]
    make_way(End);
}

} // namespace

extern "C" NTH_API void nth_batch_to_lrq(int which, nth_desc *first, nth_desc *last) {
  worker *w = current_worker();
  window &f = w->own.front;
  const long n = size_of(w, first, last);
  if (which != w->id || !enter_quietly(w) || static_cast<long>(f.lo) < n ||
      !write_plain(f.b->slot + f.lo - n, first, last, n)) [[unlikely]]
    return enqueue_roomy<queue_end::front>("nth_batch_to_lrq", which, first, last);
  const std::uint32_t lo = f.lo - static_cast<std::uint32_t>(n);
  f.lo = lo;
  leave(w);
  if (lo == 0 && the_runtime.backlog_blocks != 0) [[unlikely]]
    after_filling<queue_end::front>();
}

extern "C" NTH_API void nth_batch_to_lrq_end(int which, nth_desc *first, nth_desc *last) {
  worker *w = current_worker();
  window &k = w->own.back;
  const long n = size_of(w, first, last);
  if (which != w->id || !enter_quietly(w) || k.b == nullptr || k.hi + n > static_cast<long>(block_size) ||
      !write_plain(k.b->slot + k.hi, first, last, n)) [[unlikely]]
    return enqueue_roomy<queue_end::back>("nth_batch_to_lrq_end", which, first, last);
  const std::uint32_t hi = k.hi + static_cast<std::uint32_t>(n);
  k.hi = hi;
  leave(w);
  if (hi == block_size && the_runtime.backlog_blocks != 0) [[unlikely]]
    after_filling<queue_end::back>();
}
