// Blocks with slots of their own. The header lies in the last chunk's begin that leaves room for the block behind it:
//
//   alignment up to 32 KiB     | header | … block …                    |     block at 256, or at the alignment
//   64 KiB and more            | header | (rest of the chunk) | block … |     block at the next chunk's begin
#include "iso/chunk_owners.hpp"

namespace nth::detail::iso {

void *allocate_large(heap *h, std::size_t size, std::size_t alignment, bool may_suspend,
                     heap_error &why) noexcept {
  if (h->remote.load(std::memory_order_relaxed) != nullptr)
    drain(h);
  const std::size_t slot_bytes = the_slots.slot_bytes();
  const bool in_chunk = alignment < chunk_bytes;
  const std::size_t offset = alignment > large_offset ? alignment : large_offset;
  // From any slot on: to a multiple of the alignment with a chunk before it is `alignment` at most.
  const std::size_t total = size + offset; // both are within the area
  const std::size_t count = total / slot_bytes + (total % slot_bytes != 0 ? 1 : 0);
  if (count > static_cast<std::size_t>(the_slots.size())) {
    why = heap_error::too_large;
    return nullptr;
  }
  slot first = no_slot;
  const taking got = obtain(static_cast<slot>(count), may_suspend, first);
  if (got != taking::ok) {
    why = got == taking::no_memory ? heap_error::no_memory : heap_error::no_slots;
    return nullptr;
  }
  slot_range slots{first, static_cast<slot>(count)};
  const std::uintptr_t begin = the_slots.address_of(first);
  std::uintptr_t block = begin + offset;
  if (!in_chunk) {
    block = (begin + chunk_bytes + alignment - 1) & ~(alignment - 1);
    slots.first = the_slots.slot_of(block - chunk_bytes);
    slots.count = the_slots.slot_of(block + size - 1) + 1 - slots.first;
    const slot end = slots.first + slots.count;
    if (first != slots.first)
      the_slots.give(first, slots.first - first);
    if (end != first + static_cast<slot>(count))
      the_slots.give(end, first + static_cast<slot>(count) - end);
  }
  chunk *k = at<chunk>(in_chunk ? begin : block - chunk_bytes);
  init_chunk(k, chunk_kind::large);
  large_of(k) = {block, slots};
  link(h->larges, k);
  h->slots += static_cast<std::size_t>(slots.count);
  the_owners.set(k, h);
  return at<void>(block);
}

void release_large(heap *h, chunk *k) noexcept {
  the_owners.clear(k);
  unlink(h->larges, k);
  give_slots(h, large_of(k).slots);
}

bool resize_large(heap *h, chunk *k, std::size_t size) noexcept {
  if (size > the_slots.bytes())
    return false;
  large &l = large_of(k);
  const slot needed = the_slots.slot_of(l.block + size - 1) + 1 - l.slots.first;
  const slot more = needed - l.slots.count;
  if (more > 0) {
    if (!the_slots.extend(l.slots.first, l.slots.count, more))
      return false;
    h->slots += static_cast<std::size_t>(more);
    l.slots.count = needed;
    return true;
  }
  // What fits in a chunk is better there, when it leaves half of what it would hold here.
  if (size <= most_span && size < the_slots.address_of(l.slots.first + needed) - l.block - size)
    return false;
  if (more < 0) {
    l.slots.count = needed;
    give_slots(h, {l.slots.first + needed, -more});
  }
  return true;
}

} // namespace nth::detail::iso
