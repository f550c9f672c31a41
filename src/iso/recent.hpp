// Blocks that were freed of late, to be used again first: a chain through the free blocks of a class.
//
//   heap::recent[c] -> | link | block - link |  -> | link | block - link |  -> 0
//   a link: next block << 16 | unit where this block's run begins << 10 | this block's index in the run
//
// Whether a block is free is said by its bit in the run alone; a chain says where free blocks are, so that neither freeing
// nor allocating depends on whether the run was full or becomes full, which no processor predicts. A run all of whose free
// blocks are in the chain need not be in the list of its class:
//
//   a run of a class below recent_classes has a free block  =>  it is in with_room, or the block is in recent
//
// From the list is allocated only while the chain is empty, so the bits of what is in a chain are set. Somebody who
// writes to a block after he has freed it breaks the chain: then all runs with a free block are looked for. Before a
// run of the class goes, and before the heap departs and leaves the content of free blocks behind, the chain is emptied
// into the list. Tests: iso.heap, chains_lose_no_block, writes_to_freed_blocks and leaves_and_arrives; iso.heap_trace.
#pragma once

#include "iso/chunk.hpp"

namespace nth::detail::iso {

struct recent_words { // in a free block
  std::uint64_t link;
  std::uint64_t check;
};
static_assert(sizeof(recent_words) <= 16);

inline void put_recent(heap *h, std::size_t class_offset, std::uint64_t run_offset, std::uint64_t index,
                       std::uintptr_t block) noexcept {
  std::uint64_t &first = *at<std::uint64_t>(address_of(h->recent) + class_offset);
  const std::uint64_t link = first << 16 | run_offset | index;
  auto *words = at<recent_words>(block);
  words->link = link;
  words->check = block - link;
  first = block;
}

// Null: the chain is empty, or broken and left as it is for mend_recent.
inline void *take_recent(heap *h, unsigned c) noexcept {
  std::uint64_t &first = h->recent[c];
  const std::uintptr_t block = first;
  if (block == 0) [[unlikely]]
    return nullptr;
  const auto *words = at<recent_words>(block);
  const std::uint64_t link = words->link;
  if (words->check + link != block) [[unlikely]]
    return nullptr;
  run *r = run_at(chunk_of(block), static_cast<unsigned>(link >> 10 & 63));
  const std::uint64_t free = r->free.load(std::memory_order_relaxed);
  if ((free >> (link & 63) & 1) == 0) [[unlikely]]
    return nullptr;
  r->free.store(free & ~(std::uint64_t{1} << (link & 63)), std::memory_order_relaxed);
  first = link >> 16;
  return at<void>(block);
}

// ---- recent.cpp ----

// The chain of a class is empty, and all runs of it that have a free block are in the list.
void empty_recent(heap *h, unsigned c) noexcept;
// The same for a chain that is broken.
void mend_recent(heap *h, unsigned c) noexcept;

} // namespace nth::detail::iso
