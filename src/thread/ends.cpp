// Dependencies: what happens to the successors of threads that end.
#include "base/error.hpp"
#include "os/os.hpp"
#include "thread/ready.hpp"

namespace nth::detail {

namespace {

void set_ready(nth_desc *s) noexcept {
  set_state(s, state_of(s) == thread_state::created ? thread_state::ready_fresh : thread_state::ready_again);
}

} // namespace

void make_ready(worker *w, nth_desc *s, queue_end end) noexcept {
  if (state_of(s) == thread_state::outside) {
    // A kernel thread waits on this word (outside.cpp). It may be gone before futex_wake, whose address
    // stays mapped until the run ends; then the call wakes nobody.
    auto *word = reinterpret_cast<std::uint32_t *>(&s->args[0]);
    __atomic_store_n(word, 1, __ATOMIC_RELEASE);
    os::futex_wake(word, 1);
    return;
  }
  set_ready(s);
  if (end == queue_end::front)
    push_front(w, s);
  else
    push_back(w, s);
}

namespace {

[[gnu::cold]] void below_zero(nth_desc *s, std::uint32_t n) noexcept {
  char name[160];
  misuse(
      NTH_ESTATE,
      "dependency below zero: %u predecessors of thread %p (root %s) have ended, but it has %u dependencies "
      "left; create it with as many dependencies as it has predecessors, or add them with nth_depadd: one "
      "for each, and "
      "one for its own nth_block",
      n, static_cast<void *>(s), describe_function(reinterpret_cast<void *>(s->root), name, sizeof name),
      dependencies(s) & dep_count);
}

// True: that was all that s waited for.
inline bool lower_count(nth_desc *s, std::uint32_t n) noexcept {
  const std::uint32_t left = dependencies(s);
  if (left == n) {
    // All that is left is ours, so nobody else may touch the count: no locked instruction is needed.
    __atomic_store_n(&s->ndep, 0, __ATOMIC_RELAXED);
    return true;
  }
  if ((left & dep_count) < n) {
    below_zero(s, n);
    return false;
  }
  // Release: what the ended threads did is seen by whoever brings the count to zero; acquire: by s.
  return __atomic_sub_fetch(&s->ndep, n, __ATOMIC_ACQ_REL) == 0;
}

} // namespace

void lower(worker *w, nth_desc *s, std::uint32_t n) noexcept {
  if (lower_count(s, n))
    make_ready(w, s, queue_end::front);
}

void end_all(worker *w, nth_desc **list, long n) noexcept {
  // Each lies in a line of its own, which other cores may have.
  for (long i = 0; i < n; ++i)
    __builtin_prefetch(list[i], 1);
  post_ended(w);
  long ready = 0;
  for (long i = 0; i < n;) {
    nth_desc *const s = list[i];
    std::uint32_t times = 0;
    while (i < n && list[i] == s) {
      ++times;
      ++i;
    }
    if (!lower_count(s, times))
      continue;
    if (state_of(s) == thread_state::outside) {
      make_ready(w, s, queue_end::front);
    } else {
      set_ready(s);
      list[ready++] = s;
    }
  }
  push_front_all(w, list, ready);
}

void post_ended(worker *w) noexcept {
  private_part &p = w->own;
  if (nth_desc *s = p.ended_of) {
    NTH_ASSERT(p.ended_count != 0);
    p.ended_of = nullptr;
    lower(w, s, p.ended_count);
  }
}

bool count_ended_and_claim_slow(worker *w, nth_desc *s) noexcept {
  private_part &p = w->own;
  if (p.ended_of != s || dependencies(s) != p.ended_count + 1 || state_of(s) != thread_state::blocked) {
    count_ended(w, s);
    return false;
  }
  // All that is left has ended here: as in lower, without a locked instruction.
  p.ended_of = nullptr;
  __atomic_store_n(&s->ndep, 0, __ATOMIC_RELAXED);
  set_state(s, thread_state::ready_again);
  return true;
}

} // namespace nth::detail
