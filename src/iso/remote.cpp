// Blocks that are freed by other threads than their own.
//
//   freer                                          owner: drain()
//   1  run::remote |= the block's bit              a  takes all of heap::remote
//   2  was 0: chunk::remote_runs |= the run's      b  reads remote_next; takes chunk::remote_runs
//   3  was 0: pushes the chunk on heap::remote     c  takes run::remote of each
//
// Each step is one atomic operation that releases, each taking acquires: what the freer did to the block happens
// before its next use. No free is lost: a bit that is set in 1 when others are there already is taken by the c that
// takes those, which is still to come; the same holds for 2 and b. A c may find nothing, when an earlier one came
// between 1 and 2. A chunk is in the stack exactly when its remote_runs is not 0 and 3 is over; b reads the link
// first, for after it another freer may push the chunk again. The freer is a visitor (chunk_owners.hpp) from before
// 1 until after 3, so neither chunk nor heap goes away under it; a chunk whose remote_runs is not 0 then is kept until
// it has been drained (units.cpp, retire). Test: iso.heap_threads, under ThreadSanitizer too.
#include "iso/chunk_owners.hpp"

namespace nth::detail::iso {

namespace {

// False: the bit was there before.
bool tell(heap *h, chunk *k, std::uint64_t bit) noexcept {
  if (const std::uint64_t old = k->remote_runs.fetch_or(bit, std::memory_order_acq_rel); old != 0)
    return (old & bit) == 0;
  chunk *head = h->remote.load(std::memory_order_relaxed);
  do
    k->remote_next.store(head, std::memory_order_relaxed);
  while (!h->remote.compare_exchange_weak(head, k, std::memory_order_release, std::memory_order_relaxed));
  return true;
}

heap_error release_visited(heap *owner, std::uintptr_t address) noexcept {
  chunk *k = nullptr;
  block_place p{};
  // Of two frees at one time that have both come here, the second is found below.
  if (const heap_error why = prepare_free(address, k, p); why != heap_error::none)
    return why;
  if (k->kind == chunk_kind::large)
    return tell(owner, k, 1) ? heap_error::none : heap_error::freed;
  run *r = run_at(k, p.in.begin());
  const std::uint64_t bit = std::uint64_t{1} << p.index;
  const std::uint64_t old = r->remote.fetch_or(bit, std::memory_order_acq_rel);
  if ((old & bit) != 0)
    return heap_error::freed;
  if (old == 0)
    tell(owner, k, std::uint64_t{1} << p.in.begin());
  return heap_error::none;
}

// The middle of a large block looks like nothing at all: of our own we tell.
bool lies_in_large(const heap *h, std::uintptr_t address) noexcept {
  for (chunk *k = h != nullptr ? h->larges : nullptr; k != nullptr; k = k->next)
    if (address - address_of(k) < large_of(k).block - address_of(k) + large_bytes(k))
      return true;
  return false;
}

void drain_run(heap *h, chunk *k, unsigned begin) noexcept {
  run *r = run_at(k, begin);
  const unit u = k->units[begin];
  if (u.begin() != begin)
    return; // told of late, after its bits had been taken: it is no run any more
  const std::uint64_t bits = r->remote.exchange(0, std::memory_order_acquire);
  const std::uint64_t old = r->free.load(std::memory_order_relaxed);
  const std::uint64_t now = old | bits;
  if (now == old)
    return;
  r->free.store(now, std::memory_order_relaxed);
  if (r->prev == nullptr || now == facts[u.size_class()].all)
    run_changed(h, k, begin, now);
}

} // namespace

heap_error release_elsewhere(heap *mine, std::uintptr_t address) noexcept {
  const std::size_t index = the_owners.index_of_block(address);
  if (!the_owners.holds(index))
    return heap_error::foreign;
  {
    const chunk_owners::visit visit(the_owners, index);
    heap *owner = visit.owner();
    if (owner == nullptr)
      return lies_in_large(mine, address) ? heap_error::foreign : heap_error::dead;
    if (owner != mine)
      return release_visited(owner, address);
  }
  return release_slowly(mine, address);
}

void drain(heap *h) noexcept {
  chunk *k = h->remote.exchange(nullptr, std::memory_order_acquire);
  while (k != nullptr) {
    chunk *next = k->remote_next.load(std::memory_order_relaxed);
    if (k->kind == chunk_kind::large) {
      release_large(h, k);
    } else {
      for (std::uint64_t runs = k->remote_runs.exchange(0, std::memory_order_acq_rel); runs != 0;
           runs &= runs - 1)
        drain_run(h, k, static_cast<unsigned>(std::countr_zero(runs)));
      chunk_changed(h, k);
    }
    k = next;
  }
}

} // namespace nth::detail::iso
