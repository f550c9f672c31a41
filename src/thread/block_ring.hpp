// Closed blocks of one worker: its owner pushes and pops at the young end, any worker steals at the old
// end by one CAS. The deque of Chase and Lev (SPAA 2005) in the C11 form of Lê, Pop, Cohen and Zappa
// Nardelli (PPoPP 2013), with sequentially consistent operations in place of their fences, so that
// ThreadSanitizer sees them; the owner pays for one locked instruction per 64 threads.
//
// Argument. `top` only grows, so a CAS on it cannot suffer ABA. An item at index i is taken either by a
// CAS top: i -> i + 1, or by the owner when bottom, written before top is read, leaves top < i: the
// sequentially consistent order of (owner: bottom = i; read top) and (thief: read top; read bottom; CAS)
// lets at most one of them believe that i is its own. A thief that read a slot of an array that was
// replaced since reads the same item there, for the owner never overwrites an index in [top, bottom).
// Guarded by test/schedule/block_ring_test.cpp, which drives all interleavings by seed, and by
// test/stress/lives_test.cpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace nth::detail {

template <class Item, template <class> class Atomic = std::atomic>
class block_ring {
public:
  struct array {
    std::int64_t mask;
    Atomic<Item *> slot[1]; // mask + 1 of them
  };
  static constexpr std::size_t array_bytes(std::int64_t capacity) noexcept {
    return sizeof(array) + sizeof(Atomic<Item *>) * static_cast<std::size_t>(capacity - 1);
  }

  // The first array, or a larger one after push has refused. [owner]
  void grow(void *memory, std::int64_t capacity) noexcept {
    auto *larger = static_cast<array *>(memory);
    larger->mask = capacity - 1;
    array *old = items.load(std::memory_order_relaxed);
    if (old != nullptr) {
      const std::int64_t b = bottom.load(std::memory_order_relaxed);
      for (std::int64_t i = top.load(std::memory_order_acquire); i < b; ++i)
        larger->slot[i & larger->mask].store(old->slot[i & old->mask].load(std::memory_order_relaxed),
                                             std::memory_order_relaxed);
    }
    items.store(larger, std::memory_order_release);
  }

  std::int64_t capacity() const noexcept {
    array *a = items.load(std::memory_order_relaxed);
    return a == nullptr ? 0 : a->mask + 1;
  }

  // False: full; grow first. [owner]
  bool push(Item *item) noexcept {
    const std::int64_t b = bottom.load(std::memory_order_relaxed);
    array *a = items.load(std::memory_order_relaxed);
    if (a == nullptr || b - top.load(std::memory_order_acquire) > a->mask)
      return false;
    a->slot[b & a->mask].store(item, std::memory_order_relaxed);
    // Release: a thief that sees bottom sees the item and what it holds.
    bottom.store(b + 1, std::memory_order_release);
    return true;
  }

  // The youngest item. [owner]
  Item *pop() noexcept {
    const std::int64_t b = bottom.load(std::memory_order_relaxed) - 1;
    // Cheap way out of an empty ring: top only grows, so an old value errs towards "not empty".
    if (b < top.load(std::memory_order_relaxed))
      return nullptr;
    array *a = items.load(std::memory_order_relaxed);
    bottom.store(b, std::memory_order_seq_cst); // before top is read: see the argument
    std::int64_t t = top.load(std::memory_order_seq_cst);
    if (t > b) {
      bottom.store(b + 1, std::memory_order_relaxed);
      return nullptr;
    }
    Item *item = a->slot[b & a->mask].load(std::memory_order_relaxed);
    if (t == b) { // the last one: thieves may want it too
      if (!top.compare_exchange_strong(t, t + 1, std::memory_order_seq_cst, std::memory_order_relaxed))
        item = nullptr;
      bottom.store(b + 1, std::memory_order_relaxed);
    }
    return item;
  }

  // The oldest item; nullptr: empty, or another one was faster. [any]
  Item *steal() noexcept {
    std::int64_t t = top.load(std::memory_order_seq_cst);
    const std::int64_t b = bottom.load(std::memory_order_seq_cst);
    if (t >= b)
      return nullptr;
    array *a = items.load(std::memory_order_acquire);
    Item *item = a->slot[t & a->mask].load(std::memory_order_relaxed);
    if (!top.compare_exchange_strong(t, t + 1, std::memory_order_seq_cst, std::memory_order_relaxed))
      return nullptr;
    return item;
  }

  // The item that pop would give, to look ahead; may be stale when thieves are about. [owner]
  Item *peek() const noexcept {
    const std::int64_t b = bottom.load(std::memory_order_relaxed) - 1;
    if (b < top.load(std::memory_order_relaxed))
      return nullptr;
    array *a = items.load(std::memory_order_relaxed);
    return a->slot[b & a->mask].load(std::memory_order_relaxed);
  }

  std::int64_t length() const noexcept {
    return bottom.load(std::memory_order_seq_cst) - top.load(std::memory_order_seq_cst);
  }

private:
  alignas(64) Atomic<std::int64_t> top{0};    // thieves
  alignas(64) Atomic<std::int64_t> bottom{0}; // owner
  Atomic<array *> items{nullptr};
};

} // namespace nth::detail
