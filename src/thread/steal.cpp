// How ready threads get from one worker to another that has none: requests, answers, and the private
// part taken from an owner that does not answer. The states of `request` are in worker.hpp.
//
// Argument. Private part: one holder at a time. The owner works on it with busy = 1 after it has read a
// `request` that is neither asked nor locked, or has itself turned asked into answering. A thief works
// on it only as long as `request` is locked, which it sets by a CAS from its own ask, after (1) it asked,
// (2) a barrier was passed on all cores, (3) busy was read as 0 (acquire). An owner's bracket that began
// before (2) is either over at (3), or its busy = 1 is visible and (3) waits; one that begins after (2)
// reads asked or locked: from asked, its CAS to answering and the thief's to locked exclude one another;
// from locked it waits. A thread that runs is in nobody's private part: it was popped before busy = 0.
// Guarded by test/schedule/request_model_test.cpp, a model in which each step of this that is left out is
// found, by test/api/work_conserving_test.cpp and test/stress/lives_test.cpp.
#include "os/os.hpp"
#include "thread/fork.hpp"
#include "thread/ready.hpp"
#include "thread/runtime.hpp"

namespace nth::detail {

bool one_sided_barrier = false;

namespace {

// The owner gives away what others may take: outgoing blocks, the back window, and, when its rings are
// empty, the older half of what it would run next.
void share(worker *w) noexcept {
  post_ended(w);
  flush_outgoing(w);
  window &f = w->own.front;
  window &k = w->own.back;
  if (w->front_ring.length() > 0 || w->back_ring.length() > 0)
    return;
  if (f.empty() && k.empty()) {
    if (nth_desc *d = offer_spawned(w, w))
      push_front(w, d);
  }
  window &from = k.empty() ? f : k;
  block_ring<block> &ring = k.empty() ? w->front_ring : w->back_ring;
  const std::uint32_t n = from.hi - from.lo;
  if (n == 0)
    return;
  block *b = take_block(w);
  if (b == nullptr)
    return;
  // What runs last of the front window goes, and what runs first of the back window, so that both keep
  // their order: the front ring is popped after its window, the back ring before.
  const std::uint32_t give = (n + 1) / 2;
  const std::uint32_t begin = k.empty() ? from.hi - give : from.lo;
  b->lo = 0;
  b->hi = give;
  b->end = queue_end::front;
  for (std::uint32_t i = 0; i < give; ++i)
    b->slot[i] = from.b->slot[begin + i];
  w->closed = true;
  if (!push_ring(w, ring, b))
    return give_block(w, b);
  if (k.empty())
    from.hi -= give;
  else
    from.lo += give;
}

} // namespace

void answer_request(worker *w) noexcept {
  for (int spins = 0;; ++spins) {
    std::uint32_t r = w->request.load(std::memory_order_acquire);
    const std::uint32_t who = r & request_mask;
    if (spins == 0 && (r & request_fence) != 0) { // busy = 1, now for all to see
      w->busy.exchange(1, std::memory_order_seq_cst);
      continue;
    }
    if ((r & request_barred) != 0) {
      w->request.fetch_and(~request_barred, std::memory_order_acquire);
      continue;
    }
    if (who == request_idle)
      return;
    if (who == request_locked) { // brief, unless the thief was preempted
      if (spins < 200)
        os::pause();
      else
        os::yield_processor();
      continue;
    }
    if (!w->request.compare_exchange_strong(r, (r & request_kept) | request_answering,
                                            std::memory_order_acquire))
      continue;
    share(w);
    w->request.fetch_and(request_kept, std::memory_order_release);
    return;
  }
}

void share_with_sleepers(worker *w) noexcept {
  if ((w->request.load(std::memory_order_relaxed) & request_poison) == 0)
    return;
  runtime &rt = the_runtime;
  // An ended thread's count that is not posted may be what a sleeping worker waits for.
  post_ended(w);
  if (!any_ready(w) && ready_blocks(w) == 0 && !any_spawned(w))
    return; // nothing to share: the poison stays for the next push
  if (rt.sleepers.load(std::memory_order_seq_cst) == 0) {
    w->request.fetch_and(~request_poison, std::memory_order_seq_cst);
    // A worker that fell asleep between the two lines has poisoned before this and counted before that.
    if (rt.sleepers.load(std::memory_order_seq_cst) != 0)
      w->request.fetch_or(request_poison, std::memory_order_seq_cst);
    return;
  }
  if (rt.searching.load(std::memory_order_seq_cst) != 0)
    return; // it will find this, or look once more before it sleeps
  share(w);
  wake_one(nullptr);
}

// ---- The thief's side ------------------------------------------------------------------------------------

namespace {

void count_steal(worker *w, const worker *victim) noexcept {
  count_one(w->steals);
  if (w->node != victim->node)
    count_one(w->steals_remote);
}

void take_in(worker *w, const worker *victim, block *b) noexcept {
  b->end = queue_end::front;
  enter(w);
  accept_block(w, b);
  leave_sharing(w);
  count_steal(w, victim);
}

} // namespace

bool steal(worker *w, worker *victim) noexcept {
  block *b = victim->front_ring.steal();
  if (b == nullptr)
    b = victim->back_ring.steal();
  if (b != nullptr) {
    take_in(w, victim, b);
    return true;
  }
  if (victim->inbox.load(std::memory_order_relaxed) == nullptr)
    return false;
  const taking_scope taking(w, victim);
  block *youngest = victim->inbox.exchange(nullptr, std::memory_order_acquire);
  const bool any = youngest != nullptr;
  while (youngest != nullptr) {
    block *next = youngest->next;
    take_in(w, victim, youngest);
    youngest = next;
  }
  return any;
}

bool ask(worker *w, worker *victim) noexcept {
  std::uint32_t r = victim->request.load(std::memory_order_relaxed);
  do {
    if ((r & request_mask) != request_idle)
      return false; // another thief is at it
  } while (!victim->request.compare_exchange_weak(r, (r & request_kept) | ask_of(w->id),
                                                  std::memory_order_seq_cst, std::memory_order_relaxed));
  return true;
}

namespace {

// From the thief's own ask to `next`; false: it has been answered.
bool turn_ask(worker *w, worker *victim, std::uint32_t next) noexcept {
  std::uint32_t r = victim->request.load(std::memory_order_relaxed);
  do {
    if ((r & ~request_kept) != ask_of(w->id))
      return false;
  } while (!victim->request.compare_exchange_weak(r, (r & request_kept) | next, std::memory_order_acq_rel,
                                                  std::memory_order_relaxed));
  return true;
}

} // namespace

void withdraw(worker *w, worker *victim) noexcept { static_cast<void>(turn_ask(w, victim, request_idle)); }

look look_into(worker *w, worker *victim) noexcept {
  for (int spins = 0; victim->busy.load(std::memory_order_acquire) != 0; ++spins) {
    if ((victim->request.load(std::memory_order_relaxed) & ~request_kept) != ask_of(w->id))
      return look::unsure;
    if (spins > 2000) {
      withdraw(w, victim);
      return look::unsure;
    }
    if (spins < 200)
      os::pause();
    else
      os::yield_processor();
  }
  if (!turn_ask(w, victim, request_locked))
    return look::unsure;
  private_part &p = victim->own;
  const bool any = any_ready(victim) || p.ended_of != nullptr;
  nth_desc *spawned = any ? nullptr : offer_spawned(w, victim);
  private_part loot{};
  if (any) {
    flush_outgoing(victim);
    loot = p;
    p = {};
    p.outgoing = loot.outgoing;
  }
  victim->request.fetch_and(request_kept, std::memory_order_release);
  if (!any && spawned == nullptr)
    return look::nothing;

  enter(w);
  if (spawned != nullptr)
    push_front(w, spawned);
  if (loot.ended_of != nullptr)
    lower(w, loot.ended_of, loot.ended_count);
  // Back first, so that what was in front comes to lie in front here too.
  for (window *part : {&loot.back, &loot.front}) {
    if (part->b == nullptr)
      continue;
    if (part->empty()) {
      give_block(w, part->b);
      continue;
    }
    part->b->lo = part->lo;
    part->b->hi = part->hi;
    part->b->end = queue_end::front;
    accept_block(w, part->b);
  }
  for (nth_desc *list : {loot.spare, loot.spare_back}) {
    while (list != nullptr) {
      nth_desc *next = list->next;
      push_back(w, list);
      list = next;
    }
  }
  for (block *b = loot.spare_blocks; b != nullptr;) {
    block *next = b->next;
    b->end = queue_end::back;
    accept_block(w, b);
    b = next;
  }
  leave_sharing(w);
  count_steal(w, victim);
  return look::took;
}

bool steal_private(worker *w, worker *victim, std::uint64_t patience_ns) noexcept {
  if (!ask(w, victim))
    return false;
  const std::uint64_t until = os::now_ns() + patience_ns;
  do {
    for (int i = 0; i < 8; ++i) {
      os::pause();
      if ((victim->request.load(std::memory_order_relaxed) & ~request_kept) == request_idle)
        return steal(w, victim);
    }
  } while (os::now_ns() < until);
  if (one_sided_barrier)
    os::barrier_all();
  return look_into(w, victim) == look::took;
}

} // namespace nth::detail
