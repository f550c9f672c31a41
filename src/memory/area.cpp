#include "memory/area.hpp"

#include "base/error.hpp"
#include "os/advice.hpp"
#include "os/os.hpp"

#include <new>

namespace nth::detail {

area the_area;

namespace {

// Where the area lies when nothing else does: clear of the places where Linux puts programs, heaps,
// libraries and the shadow memory of AddressSanitizer. The same on all ranks of a cluster run.
constexpr std::uintptr_t preferred_base = 0x2000'0000'0000;
constexpr std::size_t first_commit = std::size_t{64} << 20;
constexpr std::size_t smallest_area = std::size_t{1} << 30;
constexpr std::size_t base_alignment = std::size_t{2} << 20; // a huge page, and more than any stack class
// The first pages of a dense part stay small, so that a small program stays small.
constexpr std::size_t small_prefix = std::size_t{2} << 20;

constexpr std::size_t round_up(std::size_t value, std::size_t unit) noexcept {
  return (value + unit - 1) / unit * unit;
}

} // namespace

void part::place(std::uintptr_t begin, std::size_t bytes, bool dense) noexcept {
  first = begin;
  size_bytes = bytes;
  dense_pages = dense;
}

bool part::commit_to(std::size_t bytes) noexcept {
  // Doubling steps: tens of mappings, whatever the number of objects. Where a limit on memory refuses a
  // large step, the smallest one that will do may still be granted.
  std::size_t target = committed_bytes == 0 ? first_commit : committed_bytes * 2;
  if (target < bytes)
    target = round_up(bytes, base_alignment);
  if (target > size_bytes)
    target = size_bytes;
  for (;;) {
    auto *start = reinterpret_cast<void *>(first + committed_bytes);
    if (os::commit(start, target - committed_bytes)) {
      if (dense_pages && target > small_prefix) {
        const std::size_t from = committed_bytes > small_prefix ? committed_bytes : small_prefix;
        os::advise_huge(reinterpret_cast<void *>(first + from), target - from);
      }
      committed_bytes = target;
      return true;
    }
    const std::size_t smallest = round_up(bytes, os::page_size());
    if (target <= smallest)
      return false;
    const std::size_t half = committed_bytes + round_up((target - committed_bytes) / 2, os::page_size());
    target = half > smallest ? half : smallest;
  }
}

void *part::carve(std::size_t size, std::size_t &count) noexcept {
  lock_scope scope(lock);
  const std::size_t room = (size_bytes - carved_bytes) / size;
  if (room == 0)
    return nullptr;
  if (count > room)
    count = room;
  // Ask for all, then for one: near a limit on memory the last objects come singly.
  if (carved_bytes + count * size > committed_bytes && !commit_to(carved_bytes + count * size)) {
    count = 1;
    if (carved_bytes + size > committed_bytes && !commit_to(carved_bytes + size))
      return nullptr;
  }
  auto *result = reinterpret_cast<void *>(first + carved_bytes);
  carved_bytes += count * size;
  return result;
}

bool part::full(std::size_t size) noexcept {
  lock_scope scope(lock);
  return size_bytes - carved_bytes < size;
}

std::size_t part::carved() noexcept {
  lock_scope scope(lock);
  return carved_bytes;
}

std::size_t part::committed() noexcept {
  lock_scope scope(lock);
  return committed_bytes;
}

bool area::open(std::size_t wanted, int homes_wanted) noexcept {
  unsigned home_bits = 0;
  while ((1 << home_bits) < homes_wanted)
    ++home_bits;
  void *place = nullptr;
  std::size_t bytes = wanted < os::largest_reservation() ? wanted : os::largest_reservation();
  for (; bytes >= smallest_area; bytes /= 2) {
    if (os::address_is_ours_to_choose())
      place = os::reserve(reinterpret_cast<void *>(preferred_base), bytes, base_alignment);
    if (place == nullptr)
      place = os::reserve(nullptr, bytes, base_alignment);
    if (place != nullptr)
      break;
  }
  if (place == nullptr)
    return false;

  const std::size_t table = sizeof(part) * region_count * static_cast<std::size_t>(homes_wanted);
  void *memory = os::map_pages(table);
  if (memory == nullptr) {
    os::release(place, bytes);
    return false;
  }
  base = reinterpret_cast<std::uintptr_t>(place);
  size = bytes;
  homes = homes_wanted;
  region_shift = static_cast<unsigned>(__builtin_ctzl(bytes / region_count));
  home_shift = region_shift - home_bits;
  home_mask = (std::uintptr_t{1} << home_bits) - 1;
  parts = static_cast<part *>(memory);
  for (unsigned r = 0; r < region_count; ++r) {
    for (int h = 0; h < homes; ++h) {
      auto *p = new (&at(r, h)) part;
      p->place(base + (std::uintptr_t{r} << region_shift) + (static_cast<std::uintptr_t>(h) << home_shift),
               std::size_t{1} << home_shift, r >= stack_regions);
    }
  }
  os::advise_small(place, std::size_t{stack_regions} << region_shift);
  return true;
}

void area::close() noexcept {
  if (size == 0)
    return;
  os::unmap_pages(parts, sizeof(part) * region_count * static_cast<std::size_t>(homes));
  os::release(reinterpret_cast<void *>(base), size);
  *this = area{};
}

void *area::carve(unsigned r, int home, std::size_t object_size, std::size_t &count) noexcept {
  const std::size_t wanted = count;
  void *result = at(r, home).carve(object_size, count);
  // Only a full part sends its home to the others: memory of a neighbour is second best, but no memory
  // for one home means no memory for any.
  if (result != nullptr || !at(r, home).full(object_size))
    return result;
  for (int h = 0; h < homes && result == nullptr; ++h) {
    count = wanted;
    result = at(r, h).carve(object_size, count);
  }
  return result;
}

std::size_t area::committed() noexcept {
  std::size_t sum = 0;
  for (unsigned r = 0; r < region_count; ++r) {
    for (int h = 0; h < homes; ++h)
      sum += at(r, h).committed();
  }
  return sum;
}

} // namespace nth::detail
