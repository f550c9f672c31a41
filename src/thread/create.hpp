// Descriptors of one worker: taken at creation, given back at termination. No lock and no atomic
// operation while a worker lives on its own (paper 000, section 5).
#pragma once

#include "thread/runtime.hpp"
#include "thread/worker.hpp"

namespace nth::detail {

nth_desc *take_desc_slow(worker *w) noexcept; // nullptr: no memory
void release_desc_slow(worker *w, nth_desc *d) noexcept;
void send_returns(worker *w) noexcept; // dead descriptors go home; called when a worker goes idle

inline nth_desc *take_desc(worker *w) noexcept {
  window &f = w->free_descs;
  if (f.hi == 0) [[unlikely]]
    return take_desc_slow(w);
  nth_desc *d = f.b->slot[--f.hi];
  // Below slot[0] the index wraps to stale pointers: harmless to prefetch.
  __builtin_prefetch(f.b->slot[(f.hi - prefetch_distance) % block_size], 1);
  return d;
}

// Paper 001: home is where the memory came from. [owner]
inline void release_desc(worker *w, nth_desc *d) noexcept {
  const int home = the_area.home_of(d);
  window &f = w->free_descs;
  if (home == w->id && f.hi < block_size && f.b != nullptr) [[likely]] {
    f.b->slot[f.hi++] = d;
    return;
  }
  block *r = w->returns_to[home];
  if (home != w->id && r != nullptr && r->hi < block_size - 1) [[likely]] {
    r->slot[r->hi++] = d;
    return;
  }
  release_desc_slow(w, d);
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
