// A block: up to 64 descriptor pointers that every queue handles as one. Ready threads travel in blocks,
// and dead descriptors go home in them. An array of pointers rather than a linked chain, so that a
// consumer can prefetch several descriptors at independent addresses.
//
//   | next, end  |  slot: . . . . [lo . . . . . . hi) . . |
//
// The members are slot[lo] … slot[hi - 1]; which fields are valid is said by the queue that holds it.
#pragma once

#include "base/spinlock.hpp"

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
  queue_end end; // where an arriving block is put
  // One line: reading a few slots below slot[0], to prefetch, stays inside the block.
  alignas(64) nth_desc *slot[block_size];
};
static_assert(offsetof(block, slot) == 64 && sizeof(block) == 576);

// Empty blocks: each worker keeps a list, and what exceeds its bound goes to the common pool.
struct block_list {
  block *head{nullptr};
  long count{0};
  void push(block *b) noexcept {
    b->next = head;
    head = b;
    ++count;
  }
  block *pop() noexcept {
    block *b = head;
    if (b != nullptr) {
      head = b->next;
      --count;
    }
    return b;
  }
};

class block_pool {
public:
  void open() noexcept { pooled = {}; }
  // Fills an empty list; false: no memory.
  bool refill(block_list &list, int home) noexcept;
  void trim(block_list &list) noexcept;

  static constexpr long list_bound = 256;

private:
  static constexpr std::size_t refill_count = 16;
  spinlock lock;
  block_list pooled;
};

extern block_pool the_blocks;

} // namespace nth::detail
