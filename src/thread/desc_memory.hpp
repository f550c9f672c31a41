// Descriptors of one worker: taken at creation, given back at termination. No lock and no atomic operation
// while a worker lives on its own (paper 000, section 5).
//
//   free_descs (window) -> free_first … free_last (full blocks, first in first out) -> pools
//   returns_to[home]: dead descriptors of other homes, sent in blocks of 64 by one push to home's `returned`
//
// At most `local` descriptors lie idle at a worker: those of `returned` included, which whoever sends adds up;
// where it would be too many, the block goes to the pool of home's node instead.
#pragma once

#include "thread/needs.hpp"
#include "thread/runtime.hpp"
#include "thread/worker.hpp"

namespace nth::detail {

// Blocks of dead descriptors beyond what workers keep. A chain's count is that of its descriptors.
extern free_pools<block, most_nodes> the_descs;
void open_descs(thresholds bounds, int nodes, int workers) noexcept; // bounds in descriptors

nth_desc *take_desc_slow(worker *w) noexcept; // nullptr: no memory
// n descriptors in state `member`, linked in the order in which they will run; the last one in *last. From the own
// list, then from the pools, one access to each at most, then from memory. nullptr: there is not enough, and what
// was taken is back. n > 0.
nth_desc *take_linked_descs(worker *w, long n, nth_desc **last) noexcept;
void release_desc_slow(worker *w, nth_desc *d) noexcept;
void release_foreign_slow(worker *w, nth_desc *d, int home) noexcept;
inline void release_foreign(worker *w, nth_desc *d) noexcept {
  const int home = the_area.home_of(d);
  block *r = w->returns_to[home];
  if (r == nullptr || r->hi == block_size - 1) [[unlikely]]
    return release_foreign_slow(w, d, home);
  r->slot[r->hi++] = d;
}
// Dead descriptors go home, and those that came home are taken in; called when a worker goes idle.
void send_returns(worker *w) noexcept;

inline nth_desc *take_desc(worker *w) noexcept {
  const std::uint32_t n = w->free_count;
  if (n == 0) [[unlikely]]
    return take_desc_slow(w);
  nth_desc *const *last = w->free_descs->slot + (n - 1);
  w->free_count = n - 1;
  // Below slot[0] lies the block's own first line: whatever is read there is harmless to prefetch.
  __builtin_prefetch(*(last - prefetch_distance), 1);
  return *last;
}

// The same from the window alone, which holds n or more. Where there are other workers, whose cores may have the
// lines, those of the next batch are fetched: stores leave a core in order, and each would wait for its line.
inline nth_desc *link_from_window(worker *w, std::uint32_t n, nth_desc **last) noexcept {
  const unsigned state = the_needs.empty() ? member_common : member_by_need;
  nth_desc *const *at = w->free_descs->slot + w->free_count;
  const std::uint32_t left = w->free_count - n;
  w->free_count = left;
  if (the_runtime.workers > 1) {
    for (std::uint32_t i = 1; i <= (n < left ? n : left); ++i)
      __builtin_prefetch(w->free_descs->slot[left - i], 1);
  }
  nth_desc *const first = *--at;
  nth_desc *d = first;
  for (std::uint32_t i = 1; i < n; ++i) {
    nth_desc *const next = *--at;
    d->next = next;
    set_state_and_flags(d, state);
    d = next;
  }
  d->next = nullptr;
  set_state_and_flags(d, state);
  *last = d;
  return first;
}

// Paper 001: home is where the memory came from. [owner]
inline void release_desc(worker *w, nth_desc *d) noexcept {
  if (reinterpret_cast<std::uintptr_t>(d) - w->home_begin >= w->home_bytes)
    return release_foreign(w, d);
  const std::uint32_t n = w->free_count;
  if (n == w->free_room) [[unlikely]]
    return release_desc_slow(w, d);
  w->free_descs->slot[n] = d;
  w->free_count = n + 1;
}

// D of paper 000, table 2.
struct desc_numbers {
  long allocated;  // carved and not given back to the kernel
  long most;       // so many there were at one time
  long at_workers; // idle, in the workers' lists
  long under_way;  // idle, in chains on their way home
  long at_nodes;   // idle, in the pools of the nodes
  long in_global;  // idle, in the global pool
};
// Exact when no worker runs.
desc_numbers count_descs() noexcept;
long descs_allocated() noexcept;
long descs_most() noexcept;

} // namespace nth::detail
