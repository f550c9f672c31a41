#include "iso/chunk_owners.hpp"

#include "os/advice.hpp"
#include "os/os.hpp"

namespace nth::detail::iso {

constinit chunk_owners the_owners;

bool chunk_owners::open(std::uintptr_t area, std::size_t bytes) noexcept {
  const std::size_t size = bytes / chunk_bytes * sizeof(*of);
  // Reserved memory is not counted as used before it is touched, a page for 32 MiB of the area.
  void *table = os::reserve(nullptr, size, os::page_size());
  if (table == nullptr)
    return false;
  if (!os::commit(table, size)) {
    os::release(table, size);
    return false;
  }
  os::advise_small(table, size);
  of = static_cast<std::atomic<std::uintptr_t> *>(table);
  base = area;
  chunks = bytes / chunk_bytes;
  return true;
}

void chunk_owners::close() noexcept {
  if (of != nullptr)
    os::release(of, chunks * sizeof(*of));
  of = nullptr;
  chunks = 0;
}

void chunk_owners::clear(const chunk *k) noexcept {
  const std::size_t i = index(address_of(k));
  of[i].store(0, std::memory_order_seq_cst);
  const std::atomic<std::uint32_t> &count = visitors[i % stripes].count;
  for (int spins = 0; count.load(std::memory_order_seq_cst) != 0; ++spins) {
    if (spins > 100)
      os::yield_processor();
    else
      os::pause();
  }
}

chunk_owners::visit::visit(chunk_owners &all, std::size_t index) noexcept
    : count(all.visitors[index % stripes].count) {
  count.fetch_add(1, std::memory_order_seq_cst);
  found = heap_of(all.of[index].load(std::memory_order_seq_cst));
}

} // namespace nth::detail::iso
