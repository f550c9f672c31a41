// Creating threads: descriptor, arguments, successors.
#pragma once

#include "thread/desc_memory.hpp"
#include "thread/needs.hpp"

namespace nth::detail {

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
// The same for a descriptor that the caller has. False: no memory, nothing was changed.
bool init_thread(worker *w, nth_desc *d, const creation &c) noexcept;

// Releases spill blocks from `cell` on.
void release_spill(worker *w, nth_desc *cell) noexcept;
// Copies `count` words that begin at word `from` of a spill list.
void read_spill(const nth_desc *cell, int from, int count, long *to) noexcept;

} // namespace nth::detail
