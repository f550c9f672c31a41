// Descriptors of one worker: taken at creation, given back at termination. No lock and no atomic
// operation while a worker lives on its own (paper 000, section 5).
#pragma once

#include "thread/runtime.hpp"
#include "thread/worker.hpp"

namespace nth::detail {

nth_desc *take_desc_slow(worker *w) noexcept; // nullptr: no memory
void release_desc_slow(worker *w, nth_desc *d) noexcept;
void release_foreign_slow(worker *w, nth_desc *d, int home) noexcept;
inline void release_foreign(worker *w, nth_desc *d) noexcept {
  const int home = the_area.home_of(d);
  block *r = w->returns_to[home];
  if (r == nullptr || r->hi == block_size - 1) [[unlikely]]
    return release_foreign_slow(w, d, home);
  r->slot[r->hi++] = d;
}
void send_returns(worker *w) noexcept; // dead descriptors go home; called when a worker goes idle

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

// A thread's memory, whole or not at all: descriptor, spill blocks, words. Arguments were checked.
// w: the caller's worker, or the outside one with its lock held.
struct creation {
  void (*root)();
  int ndep;
  int nsucc;
  nth_desc *const *succ;
  int narg;
  const long *args;
};
nth_desc *create_thread(worker *w, const creation &c) noexcept;

// Releases spill blocks from `cell` on.
void release_spill(worker *w, nth_desc *cell) noexcept;
// Copies `count` words that begin at word `from` of a spill list.
void read_spill(const nth_desc *cell, int from, int count, long *to) noexcept;

extern std::atomic<long> descriptors_made;

} // namespace nth::detail
