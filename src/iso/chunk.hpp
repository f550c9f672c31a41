// What lies in a chunk, and what a heap is.
//
//   0       64        192                    2144     3072
//   | links | units   | run[3] … run[63]     | heap?  | unit 3 | unit 4 | …         | unit 63 |   small
//   | links | units   | large |   256: block …                                                  large
//
// The links of a heap's chunks, and its runs, lead within the heap's own slots, and a slot has one address on every
// rank: a heap that is copied to another rank works there. Nothing here points out of the slots but heap::owner.
#pragma once

#include "iso/heap.hpp"
#include "iso/size_class.hpp"

namespace nth::detail::iso {

constexpr std::size_t chunk_bytes = std::size_t{1} << 16;
static_assert(units_of_chunk * unit_bytes == chunk_bytes);

// Written by the heap's thread alone but `remote`. A class's runs with a free block are in a list (but see recent.hpp),
// the last of which is the first one's `prev`. A run that has become full stays in it until it is met at the front; `prev` of a run that is
// in no list is null.
struct run {
  std::atomic<std::uint64_t> free;   // a bit a block; others read it to tell a second free
  std::atomic<std::uint64_t> remote; // freed by other threads, and not in `free` yet: free & remote == 0
  run *next;
  run *prev;
};
static_assert(sizeof(run) == 32);

// Where the run begins that a unit is in, and of which class it is: no_class, at 0, is none.
//
//   | begin: 6 bits | class: 7 bits | 000 |      the upper part is an offset in the chunk, the lower one an offset in
//                                                a table of pointers: a free uses both as they are
class unit {
public:
  unit() noexcept = default;
  constexpr unit(unsigned begin, unsigned size_class) noexcept
      : word(static_cast<std::uint16_t>(begin * unit_bytes | size_class * class_step)) {}
  constexpr std::uint64_t run_offset() const noexcept { return std::uint64_t{word} & 0xFC00; } // in the chunk
  constexpr unsigned begin() const noexcept { return word / unit_bytes; }
  constexpr unsigned size_class() const noexcept { return (word & 0x3FFU) / class_step; }
  constexpr std::size_t class_offset() const noexcept { return word & 0x3FFU; }

private:
  static constexpr unsigned class_step = 8;
  std::uint16_t word;
};
static_assert(no_class * 8 < unit_bytes && unit_bytes == 1024 && chunk_bytes == std::size_t{1} << 16);

inline const short_facts &short_facts_of(std::size_t class_offset) noexcept {
  static_assert(sizeof(short_facts) == 2 * 8);
  return *reinterpret_cast<const short_facts *>(reinterpret_cast<const char *>(&shortly) + 2 * class_offset);
}

enum class chunk_kind : std::uint8_t { small, large };

constexpr unsigned bins = 7; // by the longest free series of a chunk: 1, 2-3, 4-7 … 32 and more units, all
constexpr std::uint8_t no_bin = bins;

struct chunk {
  chunk *next; // of the heap's chunks, or of its large ones
  chunk *prev;
  chunk *bin_next; // of those in the same bin
  chunk *bin_prev;
  std::uint64_t free_units;
  std::uint8_t bin;
  chunk_kind kind;
  // Written by others:
  std::atomic<chunk *> remote_next;       // in heap::remote
  std::atomic<std::uint64_t> remote_runs; // where runs begin whose `remote` may hold bits; large: 1, freed
  unit units[units_of_chunk];             // large: none of them is in a run
};
static_assert(sizeof(chunk) == 192);

struct large { // behind the chunk's head
  std::uintptr_t block;
  slot_range slots;
};
constexpr std::size_t large_offset = 256; // of the block, at least
static_assert(sizeof(chunk) + sizeof(large) <= large_offset);

constexpr std::uint64_t all_units = ~std::uint64_t{0} << header_units;

constexpr std::size_t run_table = sizeof(chunk) - header_units * sizeof(run); // where run[0] would be
constexpr std::size_t heap_offset = run_table + units_of_chunk * sizeof(run);
static_assert(unit_bytes % sizeof(run) == 0);

class heap {
public:
  nth_desc *owner;
  std::size_t fast_limit; // sizes that are allocated by the short way; 0 when blocks are checked
  run *with_room[list_classes];
  std::uint64_t recent[recent_classes]; // a block that was freed of late; recent.hpp
  chunk *chunks;                        // small ones
  chunk *larges;
  chunk *by_room[bins];
  std::uintptr_t spare; // an empty slot that is kept; 0: none
  std::uintptr_t fresh; // [fresh, fresh_end): of the newest slot, not cut into chunks yet
  std::uintptr_t fresh_end;
  std::size_t slots;
  std::atomic<chunk *> remote; // stack of chunks in which other threads freed blocks
};
static_assert(heap_offset % alignof(heap) == 0);
static_assert(heap_offset + sizeof(heap) <= header_units * unit_bytes,
              "a thread with few blocks touches one page");
static_assert(header_units * unit_bytes < 4096);

template <class T>
inline T *at(std::uintptr_t address) noexcept {
  return reinterpret_cast<T *>(address);
}
inline std::uintptr_t address_of(const void *p) noexcept { return reinterpret_cast<std::uintptr_t>(p); }

inline chunk *chunk_of(std::uintptr_t address) noexcept { return at<chunk>(address & ~(chunk_bytes - 1)); }
inline large &large_of(chunk *k) noexcept { return *at<large>(address_of(k) + sizeof(chunk)); }
inline run *run_at(chunk *k, unsigned begin) noexcept {
  return at<run>(address_of(k) + run_table + begin * sizeof(run));
}
inline run *run_of(chunk *k, unit in) noexcept {
  return at<run>(address_of(k) + run_table + in.run_offset() / (unit_bytes / sizeof(run)));
}
// Where a run's first block is.
inline std::uintptr_t first_block(const run *r) noexcept {
  const std::uintptr_t a = address_of(r);
  const std::uintptr_t low = a & (chunk_bytes - 1);
  return (a - low) + (low - run_table) * (unit_bytes / sizeof(run));
}

inline unit unit_of(const chunk *k, std::uintptr_t address) noexcept {
  return k->units[address % chunk_bytes / unit_bytes];
}
// Where a block is, when one of a run begins at the address: it is not exact else.
struct block_place {
  unit in;
  std::uint32_t index;
  bool exact;
};
inline block_place find_block(const chunk *k, std::uintptr_t address) noexcept {
  const unit in = unit_of(k, address);
  const std::uint32_t reciprocal = facts[in.size_class()].reciprocal;
  const std::uint64_t quotient = (address % chunk_bytes - in.run_offset()) * reciprocal;
  return {in, static_cast<std::uint32_t>(quotient >> 32), static_cast<std::uint32_t>(quotient) < reciprocal};
}

// Whether its own thread or another has freed it.
inline bool is_free(const run *r, const block_place &p) noexcept {
  return ((r->free.load(std::memory_order_relaxed) | r->remote.load(std::memory_order_relaxed)) >> p.index &
          1) != 0;
}
// The room of the block that begins at the address, in a chunk with an owner; 0: none begins there. `p`: in a small one.
std::size_t whole_bytes(std::uintptr_t address, chunk *&k, block_place &p) noexcept;

inline std::uint64_t units_mask(unsigned begin, unsigned count) noexcept {
  return (~std::uint64_t{0} >> (units_of_chunk - count)) << begin;
}

// ---- units.cpp: chunks and their units; by the heap's thread ----

void init_chunk(chunk *k, chunk_kind kind) noexcept;
// The next chunk of [fresh, fresh_end).
void cut_chunk(heap *h) noexcept;
// A run of class c, whose begin is a multiple of `step` units; all blocks free, in no list. Null: `why`.
run *take_run(heap *h, unsigned c, unsigned step, bool may_suspend, heap_error &why) noexcept;
// Blocks of a run were freed, and `now` are free: it was full, or is entirely free.
void run_changed(heap *h, chunk *k, unsigned begin, std::uint64_t now) noexcept;
// To be called after run_changed, when the chunk is not used any more: its slot may go back.
void chunk_changed(heap *h, chunk *k) noexcept;
// Entirely free runs give their units back.
void reclaim(heap *h) noexcept;
void give_spare(heap *h) noexcept;
void give_slots(heap *h, slot_range r) noexcept;
void link(chunk *&list, chunk *k) noexcept;
void unlink(chunk *&list, chunk *k) noexcept;

inline void push_run(heap *h, unsigned c, run *r) noexcept {
  run *head = h->with_room[c];
  r->next = head;
  r->prev = r;
  if (head != nullptr) {
    r->prev = head->prev;
    head->prev = r;
  }
  h->with_room[c] = r;
}
inline void pop_run(heap *h, unsigned c, run *head) noexcept {
  h->with_room[c] = head->next;
  if (head->next != nullptr)
    head->next->prev = head->prev;
  head->prev = nullptr;
}
// The first run with a free block; null: there is none.
inline run *first_with_room(heap *h, unsigned c) noexcept {
  run *r = h->with_room[c];
  while (r != nullptr && r->free.load(std::memory_order_relaxed) == 0) {
    pop_run(h, c, r);
    r = h->with_room[c];
  }
  return r;
}

// ---- large.cpp ----

void *allocate_large(heap *h, std::size_t size, std::size_t alignment, bool may_suspend,
                     heap_error &why) noexcept;
void release_large(heap *h, chunk *k) noexcept;
bool resize_large(heap *h, chunk *k, std::size_t size) noexcept;
inline std::size_t large_bytes(chunk *k) noexcept {
  const large &l = large_of(k);
  return the_slots.address_of(l.slots.first + l.slots.count) - l.block;
}

// ---- heap.cpp ----

// What both ways of freeing look at first: foreign, freed, or, when blocks are checked, overrun; none: the block may be
// freed, and has been spoiled.
heap_error prepare_free(std::uintptr_t address, chunk *&k, block_place &p) noexcept;

// Blocks that are checked, large ones, and what is no block; in a chunk of the heap's own.
heap_error release_slowly(heap *mine, std::uintptr_t address) noexcept;

// ---- remote.cpp ----

heap_error release_elsewhere(heap *mine, std::uintptr_t address) noexcept;
// What other threads freed is free for the heap's thread.
void drain(heap *h) noexcept;

// ---- check.cpp: NTH_ISO_CHECK ----

constexpr std::size_t seal_bytes = 16; // of each block when blocks are checked
void seal(std::uintptr_t block, std::size_t bytes, std::size_t size) noexcept;
// The size that the block was sealed with; SIZE_MAX: it was overrun.
std::size_t sealed_size(std::uintptr_t block, std::size_t bytes) noexcept;
void spoil(std::uintptr_t block, std::size_t size) noexcept;

} // namespace nth::detail::iso
