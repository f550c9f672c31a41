// Which heap each chunk of the area belongs to, in this process: an address that is freed is looked up here, so any
// address whatever may be asked for.
//
//   of[0] of[1] …            a word for each 64 KiB of the area: the heap's address, and whether its blocks are freed by
//                            the short way (heap.cpp) or are checked; 0: no chunk's header lies there
//   visitors[i % 64]         kernel threads that look into a chunk i of another thread's heap just now
//
// A chunk's memory must not go away under a visitor. Visitor: visitors + 1; of[i] is read; chunk and heap are touched
// only if it was not 0; visitors - 1. Owner: of[i] = 0; waits until visitors is 0; the memory goes. All four are
// sequentially consistent: either the visitor's read comes after the owner's write, and it sees 0, or its count
// comes before the owner's reading of it, and it is waited for. Test: iso.heap_threads.
#pragma once

#include "iso/chunk.hpp"

namespace nth::detail::iso {

class chunk_owners {
public:
  bool open(std::uintptr_t area, std::size_t bytes) noexcept;
  void close() noexcept;

  std::size_t index(std::uintptr_t address) const noexcept { return (address - base) / chunk_bytes; }
  // Of the chunk with the block's header: that of a block at a chunk's begin is one chunk below.
  std::size_t index_of_block(std::uintptr_t address) const noexcept {
    return index(address) - (address % chunk_bytes == 0 ? 1 : 0);
  }
  bool holds(std::size_t index) const noexcept { return index < chunks; }

  // By the heap's thread: for chunks of other heaps the answer may be old.
  heap *owner(std::size_t index) const noexcept { return heap_of(of[index].load(std::memory_order_relaxed)); }
  // The same, and that its blocks are not checked; not for null.
  bool is_short_of(const heap *mine, std::size_t index) const noexcept {
    return of[index].load(std::memory_order_relaxed) == address_of(mine) + short_way;
  }
  void set(const chunk *k, heap *h) noexcept {
    of[index(address_of(k))].store(h == nullptr ? 0 : address_of(h) + (checking ? long_way : short_way),
                                   std::memory_order_seq_cst);
  }
  // Nobody looks into the chunk any more when it returns.
  void clear(const chunk *k) noexcept;

  class visit {
  public:
    visit(chunk_owners &all, std::size_t index) noexcept;
    ~visit() noexcept { count.fetch_sub(1, std::memory_order_release); }
    visit(const visit &) = delete;
    visit &operator=(const visit &) = delete;
    heap *owner() const noexcept { return found; }

  private:
    std::atomic<std::uint32_t> &count;
    heap *found;
  };

private:
  static constexpr std::uintptr_t short_way =
      1; // no word is a heap's address: null's owner is no heap, short of none
  static constexpr std::uintptr_t long_way = 2;
  static heap *heap_of(std::uintptr_t word) noexcept { return at<heap>(word & ~(short_way | long_way)); }

  std::uintptr_t base{0};
  std::size_t chunks{0};
  std::atomic<std::uintptr_t> *of{nullptr};

  static constexpr std::size_t stripes = 64;
  struct alignas(64) stripe {
    std::atomic<std::uint32_t> count{0};
  };
  stripe visitors[stripes];
};

extern chunk_owners the_owners;

} // namespace nth::detail::iso
