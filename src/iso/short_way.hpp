// The short ways of allocating and freeing a small block, in line where the calls of nth/iso.h are made.
#pragma once

#include "iso/chunk_owners.hpp"
#include "iso/recent.hpp"

namespace nth::detail::iso {

// ---- heap.cpp ----

// In a chunk of the heap's own.
heap_error release_other(heap *mine, std::uintptr_t address) noexcept;
// After a free that is to be told.
heap_error settle(heap *mine, std::uintptr_t address) noexcept;

// Null: not by the short way; allocate() knows others.
inline void *allocate_short(heap *h, std::size_t size) noexcept {
  if (size - 1 >= h->fast_limit) [[unlikely]]
    return nullptr;
  return take_recent(h, class_of_small(size));
}

// As release().
inline heap_error release_short(heap *mine, void *block) noexcept {
  const std::uintptr_t address = address_of(block);
  const std::size_t at_chunk = the_owners.index(address);
  if (!the_owners.holds(at_chunk)) [[unlikely]]
    return heap_error::foreign;
  if (!the_owners.is_short_of(mine, at_chunk)) [[unlikely]]
    return release_elsewhere(mine, address);
  chunk *k = chunk_of(address);
  const unit in = unit_of(k, address);
  const short_facts &f = short_facts_of(in.class_offset());
  const std::uint64_t quotient = (address % chunk_bytes - in.run_offset()) * f.reciprocal;
  if (static_cast<std::uint32_t>(quotient) >= static_cast<std::uint32_t>(f.reciprocal)) [[unlikely]]
    return release_other(mine, address);
  const std::uint64_t index = quotient >> 32;
  run *r = run_of(k, in);
  const std::uint64_t old = r->free.load(std::memory_order_relaxed);
  if (((old | r->remote.load(std::memory_order_relaxed)) >> index & 1) != 0) [[unlikely]]
    return heap_error::freed;
  const std::uint64_t now = old | std::uint64_t{1} << index;
  r->free.store(now, std::memory_order_relaxed);
  // Entirely free and not the only one of its list. Whether it is the only one is not to be predicted: no branch.
  const std::uint64_t used = now ^ f.all;
  if ((used | static_cast<std::uint64_t>(r->prev == r)) == 0) [[unlikely]]
    return settle(mine, address);
  put_recent(mine, in.class_offset(), in.run_offset(), index, address);
  return heap_error::none;
}

} // namespace nth::detail::iso
