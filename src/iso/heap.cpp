#include "iso/chunk_owners.hpp"
#include "iso/recent.hpp"
#include "iso/short_way.hpp"

// The short ways of allocating and freeing a block, and which way others take.
namespace nth::detail::iso {

constinit bool checking = false;

namespace {

constexpr std::size_t cut_alignment = 16; // of every block, without asking

void *take_block(unsigned c, run *r) noexcept {
  std::uint64_t free = r->free.load(std::memory_order_relaxed);
  const auto index = static_cast<unsigned>(std::countr_zero(free));
  free &= free - 1;
  r->free.store(free, std::memory_order_relaxed);
  return at<void>(first_block(r) + index * facts[c].size);
}

// Of a listed class: from a run with room, or a new one. Its arguments are in the places of allocate()'s.
[[gnu::noinline]] void *allocate_listed(heap *h, std::size_t size, std::size_t /*alignment*/,
                                        bool may_suspend, heap_error &why) noexcept {
  const unsigned c = class_of(size);
  if (c < recent_classes && h->recent[c] != 0)
    mend_recent(h, c);
  run *r = first_with_room(h, c);
  if (r == nullptr && h->remote.load(std::memory_order_relaxed) != nullptr) {
    drain(h);
    r = first_with_room(h, c);
  }
  if (r == nullptr) {
    r = take_run(h, c, 1, may_suspend, why);
    if (r == nullptr)
      return nullptr;
    push_run(h, c, r);
  }
  return take_block(c, r);
}

void *allocate_span(heap *h, unsigned c, unsigned step, bool may_suspend, heap_error &why) noexcept {
  if (h->remote.load(std::memory_order_relaxed) != nullptr)
    drain(h);
  run *r = take_run(h, c, step, may_suspend, why);
  if (r == nullptr)
    return nullptr;
  r->free.store(0, std::memory_order_relaxed);
  return at<void>(first_block(r));
}

// Whether an empty chunk has room for so many units that begin at a multiple of `step`.
bool fits_chunk(std::size_t units, std::size_t step) noexcept {
  return (header_units + step - 1) / step * step + units <= units_of_chunk;
}

[[gnu::noinline]] void *allocate_slowly(heap *h, std::size_t size, std::size_t alignment, bool may_suspend,
                                        heap_error &why) noexcept {
  const std::size_t area = the_slots.bytes();
  if (size > area || alignment > area) {
    why = heap_error::too_large;
    return nullptr;
  }
  const std::size_t bytes = size + (checking ? seal_bytes : 0);
  const std::size_t units = (bytes + unit_bytes - 1) / unit_bytes;
  const std::size_t step = alignment > unit_bytes ? alignment / unit_bytes : 1;
  void *block = nullptr;
  if (bytes <= most_listed && step == 1) {
    // A class that is a multiple of the alignment: of sizes that are, each has a class of its own or one that is a
    // multiple of a larger power of two.
    const std::size_t least = alignment > cut_alignment ? alignment : cut_alignment;
    const std::size_t rounded = (bytes + least - 1) & ~(least - 1);
    const unsigned c = class_of(rounded);
    if (c < recent_classes && !checking)
      block = take_recent(h, c);
    if (block == nullptr)
      block = allocate_listed(h, rounded, alignment, may_suspend, why);
  } else if (fits_chunk(units, step)) {
    block = allocate_span(h, span_class(bytes), static_cast<unsigned>(step), may_suspend, why);
  } else {
    block = allocate_large(h, bytes, alignment, may_suspend, why);
  }
  if (checking && block != nullptr) {
    std::uintptr_t a = address_of(block);
    chunk *k = nullptr;
    block_place p{};
    const std::size_t whole = whole_bytes(a, k, p);
    seal(a, whole, size);
  }
  return block;
}

} // namespace

[[gnu::noinline]] heap_error release_other(heap *mine, std::uintptr_t address) noexcept {
  return address % chunk_bytes != 0 ? release_slowly(mine, address) : release_elsewhere(mine, address);
}

[[gnu::noinline]] heap_error settle(heap *mine, std::uintptr_t address) noexcept {
  chunk *k = chunk_of(address);
  const unsigned begin = find_block(k, address).in.begin();
  run_changed(mine, k, begin, run_at(k, begin)->free.load(std::memory_order_relaxed));
  chunk_changed(mine, k);
  return heap_error::none;
}

std::size_t whole_bytes(std::uintptr_t address, chunk *&k, block_place &p) noexcept {
  k = chunk_of(address);
  // An address at a chunk's begin is that of a block with a large alignment; its header is one chunk below.
  if (address == address_of(k))
    k = at<chunk>(address - chunk_bytes);
  if (k->kind == chunk_kind::large)
    return large_of(k).block == address ? large_bytes(k) : 0;
  p = find_block(k, address);
  return chunk_of(address) == k && p.exact ? facts[p.in.size_class()].size : 0;
}

heap_error prepare_free(std::uintptr_t address, chunk *&k, block_place &p) noexcept {
  const std::size_t bytes = whole_bytes(address, k, p);
  if (bytes == 0)
    return heap_error::foreign;
  if (k->kind == chunk_kind::small ? is_free(run_at(k, p.in.begin()), p)
                                   : k->remote_runs.load(std::memory_order_relaxed) != 0)
    return heap_error::freed;
  if (checking) {
    const std::size_t size = sealed_size(address, bytes);
    if (size == SIZE_MAX)
      return heap_error::overrun;
    spoil(address, size);
  }
  return heap_error::none;
}

heap_error release_slowly(heap *mine, std::uintptr_t address) noexcept {
  chunk *k = nullptr;
  block_place p{};
  if (const heap_error why = prepare_free(address, k, p); why != heap_error::none)
    return why;
  if (k->kind == chunk_kind::large) {
    release_large(mine, k);
    return heap_error::none;
  }
  run *r = run_at(k, p.in.begin());
  const std::uint64_t old = r->free.load(std::memory_order_relaxed);
  const std::uint64_t now = old | std::uint64_t{1} << p.index;
  r->free.store(now, std::memory_order_relaxed);
  if (now == facts[p.in.size_class()].all || r->prev == nullptr)
    return settle(mine, address);
  return heap_error::none;
}

void *allocate(heap *h, std::size_t size, std::size_t alignment, bool may_suspend, heap_error &why) noexcept {
  if (size <= h->fast_limit && alignment <= cut_alignment) [[likely]] {
    if (void *block = allocate_short(h, size); block != nullptr) [[likely]]
      return block;
    return allocate_listed(h, size, alignment, may_suspend, why);
  }
  return allocate_slowly(h, size, alignment, may_suspend, why);
}

heap_error release(heap *mine, void *block) noexcept { return release_short(mine, block); }

} // namespace nth::detail::iso
