// Creating threads: descriptor, arguments, successors.
#pragma once

#include "iso/heap.hpp"
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

// What a thread with flag_many has in its spill blocks: a word with the number of successors and whether it has a heap
// (own_heap.hpp), the successors, and the heap.
struct kept_words {
  int successors;
  bool has_heap;
  long word[NTH_MAX_SUCCESSORS + 1];
  int count() const noexcept { return successors + (has_heap ? 1 : 0); }
  iso::heap *heap() const noexcept {
    return has_heap ? reinterpret_cast<iso::heap *>(word[successors]) : nullptr;
  }
};
void read_kept(const nth_desc *cell, kept_words &to) noexcept;
void forget_kept_heap(nth_desc *cell) noexcept;                  // it has none any more
nth_desc *make_kept(worker *w, const kept_words &from) noexcept; // nullptr: no memory

// Releases spill blocks from `cell` on.
void release_spill(worker *w, nth_desc *cell) noexcept;
// Copies `count` words that begin at word `from` of a spill list.
void read_spill(const nth_desc *cell, int from, int count, long *to) noexcept;

} // namespace nth::detail
