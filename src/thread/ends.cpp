// Dependencies: what happens to the successors of threads that end.
#include "base/error.hpp"
#include "os/os.hpp"
#include "thread/ready.hpp"

namespace nth::detail {

void make_ready(worker *w, nth_desc *s, queue_end end) noexcept {
  if (state_of(s) == thread_state::outside) {
    // A kernel thread waits on this word (outside.cpp). It may be gone before futex_wake, whose address
    // stays mapped until the run ends; then the call wakes nobody.
    auto *word = reinterpret_cast<std::uint32_t *>(&s->args[0]);
    __atomic_store_n(word, 1, __ATOMIC_RELEASE);
    os::futex_wake(word, 1);
    return;
  }
  set_state(s, state_of(s) == thread_state::created ? thread_state::ready_fresh : thread_state::ready_again);
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

} // namespace

void lower(worker *w, nth_desc *s, std::uint32_t n) noexcept {
  const std::uint32_t left = dependencies(s);
  if (left == n) {
    // All that is left is ours, so nobody else may touch the count: no locked instruction is needed.
    __atomic_store_n(&s->ndep, 0, __ATOMIC_RELAXED);
    return make_ready(w, s, queue_end::front);
  }
  if ((left & dep_count) < n)
    return below_zero(s, n);
  // Release: what the ended threads did is seen by whoever brings the count to zero; acquire: by s.
  if (__atomic_sub_fetch(&s->ndep, n, __ATOMIC_ACQ_REL) == 0)
    make_ready(w, s, queue_end::front);
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
