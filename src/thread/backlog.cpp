#include "thread/backlog.hpp"

namespace nth::detail {

namespace {

// Closed blocks that wait at v; windows are left out. Read in the order in which a block moves, so that one
// that its owner takes in meanwhile is seen at one of the places, or at two.
long waiting_blocks(const worker *v) noexcept {
  long n = 0;
  if (const block *youngest = v->inbox.load(std::memory_order_acquire))
    n = __atomic_load_n(&youngest->depth, __ATOMIC_RELAXED);
  n += v->taking.load(std::memory_order_acquire);
  return n + ready_blocks(v);
}

long waiting_elsewhere(const worker *w) noexcept {
  long n = 0;
  for (int i = 0; i < the_runtime.workers; ++i) {
    if (i != w->id)
      n += waiting_blocks(the_runtime.at(i));
  }
  return n;
}

} // namespace

bool over_backlog_slow(worker *w) noexcept {
  const auto bound = static_cast<long>(the_runtime.backlog_blocks);
  const long here = ready_blocks(w) + 1;
  if (here >= bound)
    return true;
  if (here + w->away < bound)
    return false;
  // `away` has only grown since it was counted last. Counting reads lines of all other workers: once for as
  // many blocks as there are of them. In between the answer errs towards the bound.
  if (w->recount > 1) {
    --w->recount;
    return true;
  }
  w->recount = the_runtime.workers - 1;
  const long counted = waiting_elsewhere(w);
  if (counted < w->away)
    w->away = counted;
  return here + w->away >= bound;
}

bool diverts_slow(worker *w, int to, long n) noexcept {
  window &o = w->own.outgoing[to]; // without a block: lo == hi, the puts left of the last decision
  if (o.hi == 0) {
    // A worker at which nothing waits gets its block all the same.
    if (!over_backlog_slow(w) || waiting_blocks(the_runtime.at(to)) == 0)
      return false;
    o.lo = o.hi = block_size;
  }
  o.lo = o.hi -= n < static_cast<long>(o.hi) ? static_cast<std::uint32_t>(n) : o.hi;
  return true;
}

bool backlog_is_left(worker *w) noexcept {
  enter(w);
  bool left = static_cast<std::uint64_t>(ready_blocks(w)) >= the_runtime.backlog_blocks;
  if (left && w->own.front.empty()) {
    nth_desc *const d = pop(w);
    if (d != nullptr)
      push_front(w, d);
    left = d != nullptr;
  }
  leave_sharing(w);
  return left;
}

} // namespace nth::detail
