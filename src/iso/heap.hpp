// The block layer: what nth_isomalloc returns lies in slots that one thread owns (paper 004, sections 3.3, 4.3,
// 4.4; there first-fit lists, here a bit a block).
//
// A slot is cut into chunks of 64 KiB, and a chunk into 64 units of 1 KiB:
//
//   | header: 3 units | run | run of 5 units    | run |  ...                 |   a chunk
//     |links|begin and class of each unit|run[3] … run[63]|heap?|        (chunk.hpp)
//
// A run holds up to 64 blocks of one size; a bit of its word `free` says that a block is free, so blocks have no
// headers, a second free of one is seen, and what is allocated is known when the thread moves. Blocks of up to 61 KiB
// lie in chunks; larger ones have a chunk header of their own and the following bytes, over as many slots as that takes.
// Who a chunk belongs to is not said in it but in a table of the process (chunk_owners.hpp), so any address may be asked
// about. The heap itself lies in the first chunk of its thread: pointers in it stay valid when the thread moves.
#pragma once

#include "iso/slots.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

struct nth_desc;

namespace nth::detail::iso {

class heap; // heap.cpp and chunk.hpp say what is in it

// Why an allocation failed, or a free was refused.
enum class heap_error : std::uint8_t {
  none,
  too_large, // overflow, or more than the area
  no_slots,  // no rank has slots side by side for it
  no_memory, // the kernel refused
  foreign,   // no block of nth_isomalloc begins there
  freed,     // it was freed before
  dead,      // the thread it belonged to has ended, or it lies on another rank
  overrun    // NTH_ISO_CHECK: bytes behind the block were written
};

// After the_slots.open, and before the_slots.close, when there are no heaps. False: no memory.
bool open_heaps() noexcept;
void close_heaps() noexcept;

// A heap for `owner` (null: the rank's own, for kernel threads outside; locked by its user). Null: `why`.
heap *make_heap(nth_desc *owner, bool may_suspend, heap_error &why) noexcept;
// Its blocks are gone; its slots belong to this rank.
void end_heap(heap *h) noexcept;

// size > 0; alignment a power of two. Null: `why`.
void *allocate(heap *h, std::size_t size, std::size_t alignment, bool may_suspend, heap_error &why) noexcept;
// By the heap's thread (mine: its heap), or by any other of the rank (mine: its own heap, or null).
heap_error release(heap *mine, void *block) noexcept;
// Whether the block can have `size` bytes where it is; then it has.
bool resize(heap *mine, void *block, std::size_t size) noexcept;
// Bytes that the block has room for; 0: `why`.
std::size_t usable(const void *block, heap_error &why) noexcept;

// What other threads freed may be used again, and memory that waits to be used goes back.
void collect(heap *h) noexcept;
// The heap leaves this process: when it returns, no thread looks into its slots, nor will; for_each_… and count still
// may. A free of one of its blocks is answered `dead` from then on.
void depart(heap *h) noexcept;
// The heap's slots hold what they held where it departed (what lies in its blocks aside), at the same addresses. Also
// where it departed, when it stays after all.
void arrive(heap *h) noexcept;
// Calls visit(context, begin, bytes) for what lies in the heap's slots and is neither block nor unused: it travels too.
void for_each_header(heap *h, void (*visit)(void *context, void *begin, std::size_t bytes),
                     void *context) noexcept;

// NTH_ISO_CHECK: the first block of the heap that was written behind; null: none.
const void *find_overrun(heap *h) noexcept;
// NTH_ISO_CHECK: set once, before the first heap.
extern bool checking;

struct heap_numbers {
  std::size_t blocks;     // allocated
  std::size_t live_bytes; // of them, usable sizes
  std::size_t slots;      // owned
};
// This, and what follows: by the heap's thread, or while it does not run.
heap_numbers count(heap *h) noexcept;

// Sizes and offsets in chunks, as one word: the same on all ranks.
std::uint64_t layout_word() noexcept;

// Calls visit(context, block, usable bytes) for each allocated block: what travels when the thread moves.
void for_each_block(heap *h, void (*visit)(void *context, void *block, std::size_t bytes),
                    void *context) noexcept;
// Calls visit(context, range) for each series of slots that the heap owns.
void for_each_range(heap *h, void (*visit)(void *context, slot_range r), void *context) noexcept;

} // namespace nth::detail::iso
