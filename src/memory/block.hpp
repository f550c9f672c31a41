// A block: up to 64 descriptor pointers that every queue handles as one. Ready threads travel in blocks,
// and dead descriptors go home in them. An array of pointers rather than a linked chain, so that a
// consumer can prefetch several descriptors at independent addresses.
//
//   | next, end  |  slot: . . . . [lo . . . . . . hi) . . |
//
// The members are slot[lo] … slot[hi - 1]; which fields are valid is said by the queue that holds it.
#pragma once

#include "memory/area.hpp"
#include "memory/free_list.hpp"

#include <cstddef>
#include <cstdint>

struct nth_desc;

namespace nth::detail {

constexpr std::uint32_t block_size = 64;

enum class queue_end : std::uint8_t { front, back };

struct alignas(64) block {
  block *next; // link in inboxes and lists
  std::uint32_t lo;
  std::uint32_t hi;
  queue_end end;             // where an arriving block is put
  std::uint32_t chain_count; // free_list.hpp
  block *next_chain;
  // While it is the youngest of an inbox: the blocks there; of returns: the descriptors there. A hint, atomic.
  std::uint32_t depth;
  // One line: reading a few slots below slot[0], to prefetch, stays inside the block.
  alignas(64) nth_desc *slot[block_size];
};
static_assert(offsetof(block, slot) == 64 && sizeof(block) == block_bytes);

// A list that others have pushed to, turned round: the oldest comes first.
inline block *oldest_first(block *youngest) noexcept {
  block *oldest = nullptr;
  while (youngest != nullptr) {
    block *next = youngest->next;
    youngest->next = oldest;
    oldest = youngest;
    youngest = next;
  }
  return oldest;
}

// Empty blocks: each worker keeps a list; what exceeds its bound moves to the pools.
using block_list = local_list<block>;

class block_memory {
public:
  void open(int nodes, int workers) noexcept;
  void close() noexcept { pools.close(); }
  block *refill(block_list &list, int home) noexcept; // for an empty list; nullptr: no memory
  void lift(block_list &list, int node) noexcept { pools.put(list.take_reserve(), node); }
  void put(chain<block> c, int node) noexcept { pools.put(c, node); }

  static constexpr thresholds bounds{256, 1024, 4096};
  static constexpr std::uint32_t half = bounds.local / 2;

  free_pools<block, most_nodes> pools;
};

extern block_memory the_blocks;

} // namespace nth::detail
