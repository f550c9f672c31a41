// What is asked of one block that stays.
#include "iso/chunk_owners.hpp"

namespace nth::detail::iso {

namespace {

// Looks at the block of an address, whoever's it is; then(owner, chunk, place, its bytes) while nobody takes it away.
template <class F>
heap_error look(std::uintptr_t address, F then) noexcept {
  const std::size_t index = the_owners.index_of_block(address);
  if (!the_owners.holds(index))
    return heap_error::foreign;
  const chunk_owners::visit visit(the_owners, index);
  if (visit.owner() == nullptr)
    return heap_error::dead;
  chunk *k = nullptr;
  block_place p{};
  const std::size_t bytes = whole_bytes(address, k, p);
  if (bytes == 0)
    return heap_error::foreign;
  if (k->kind == chunk_kind::small ? is_free(run_at(k, p.in.begin()), p)
                                   : k->remote_runs.load(std::memory_order_relaxed) != 0)
    return heap_error::freed;
  return then(visit.owner(), k, bytes);
}

} // namespace

std::size_t usable(const void *block, heap_error &why) noexcept {
  std::size_t result = 0;
  why = look(address_of(block), [&](heap *, chunk *, std::size_t bytes) {
    result = checking ? sealed_size(address_of(block), bytes) : bytes;
    if (result != SIZE_MAX)
      return heap_error::none;
    result = 0;
    return heap_error::overrun;
  });
  return result;
}

// A block of another heap is only ever found large enough. One that would use less than half of its room moves.
bool resize(heap *mine, void *block, std::size_t size) noexcept {
  const std::uintptr_t address = address_of(block);
  const std::size_t more = checking ? seal_bytes : 0;
  bool fits = false;
  const heap_error error = look(address, [&](heap *owner, chunk *k, std::size_t bytes) {
    if (checking && (owner != mine || sealed_size(address, bytes) == SIZE_MAX))
      return heap_error::overrun;
    if (size > the_slots.bytes())
      return heap_error::too_large;
    const std::size_t needed = size + more;
    if (k->kind == chunk_kind::large && owner == mine)
      fits = resize_large(owner, k, needed);
    else
      fits = needed <= bytes && (needed > bytes / 2 || class_of_block(needed) == class_of_block(bytes));
    if (fits && checking)
      seal(address, k->kind == chunk_kind::large ? large_bytes(k) : bytes, size);
    return heap_error::none;
  });
  return error == heap_error::none && fits;
}

std::uint64_t layout_word() noexcept {
  return sizeof(chunk) | sizeof(run) << 12 | std::uint64_t{heap_offset} << 20 |
         std::uint64_t{sizeof(heap)} << 32 | std::uint64_t{list_classes} << 44 |
         std::uint64_t{large_offset} << 52;
}

} // namespace nth::detail::iso
