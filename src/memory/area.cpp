#include "memory/area.hpp"

#include "base/error.hpp"
#include "os/advice.hpp"
#include "os/binding.hpp"
#include "os/os.hpp"

#include <new>

namespace nth::detail {

area the_area;

namespace {

constexpr std::size_t smallest_area = std::size_t{1} << 30;
constexpr std::size_t base_alignment = std::size_t{2} << 20; // a huge page, and more than any stack class

// What a part's objects measure; 0: pieces of any size.
constexpr std::size_t object_size(unsigned r) noexcept {
  if (r < stack_regions)
    return std::size_t{1} << (r + smallest_class_log2);
  if (r == static_cast<unsigned>(region::descriptors))
    return descriptor_bytes;
  return r == static_cast<unsigned>(region::blocks) ? block_bytes : 0;
}

constexpr unsigned bits_for(int count) noexcept {
  unsigned bits = 0;
  while ((1 << bits) < count)
    ++bits;
  return bits;
}

constexpr unsigned bits_of_ranks(const area_seat &seat) noexcept { return bits_for(seat.ranks); }

// The last node's homes need not fill a power of two; those of all others do, so that an address tells its
// node.
struct home_bits_of {
  unsigned each;
  int homes;
  unsigned all;
  home_bits_of(int nodes, int homes_each) noexcept
      : each(nodes == 1 ? 0 : bits_for(homes_each)), homes(nodes == 1 ? homes_each : nodes << each),
        all(bits_for(homes)) {}
};

} // namespace

// Where the area lies when nothing else does: clear of the places where Linux puts programs, heaps,
// libraries and the shadow memory of AddressSanitizer. The same on all ranks of a cluster run.
constexpr std::uintptr_t area::preferred_base = 0x2000'0000'0000;

unsigned area::home_bits(int nodes_wanted, int homes_each) noexcept {
  return home_bits_of(nodes_wanted, homes_each).all;
}

std::size_t area::least(int nodes_wanted, int homes_each, const area_seat &seat) noexcept {
  const unsigned own = home_bits(nodes_wanted, homes_each);
  const unsigned bits = (own > seat.home_bits ? own : seat.home_bits) + bits_of_ranks(seat);
  // A home's slice of the maps is whole pages.
  const std::size_t for_homes = (os::page_size() * region_count * region_count) << bits;
  return for_homes > smallest_area ? for_homes : smallest_area;
}

bool area::open(std::size_t wanted, int nodes_wanted, int homes_each, const area_seat &seat) noexcept {
  const home_bits_of bits(nodes_wanted, homes_each);
  const unsigned home_bits_each = bits.each;
  const int homes_wanted = bits.homes;
  const unsigned home_bits = bits.all > seat.home_bits ? bits.all : seat.home_bits;
  void *place = nullptr;
  const std::size_t largest = os::largest_reservation();
  const std::size_t smallest = least(nodes_wanted, homes_each, seat);
  std::size_t bytes = wanted < largest ? wanted : largest;
  if (seat.base != 0) {
    place = reinterpret_cast<void *>(seat.base);
    bytes = seat.bytes;
  }
  for (; place == nullptr && bytes >= smallest; bytes /= 2) {
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
  lent = seat.base != 0;
  if (memory == nullptr) {
    if (!lent)
      os::release(place, bytes);
    return false;
  }
  base = reinterpret_cast<std::uintptr_t>(place);
  size = bytes;
  homes = homes_wanted;
  nodes = nodes_wanted;
  node_shift = nodes_wanted == 1 ? home_bits : home_bits_each;
  region_shift = static_cast<unsigned>(__builtin_ctzl(bytes / region_count));
  rank_shift = region_shift - bits_of_ranks(seat);
  rank_mask = (std::uintptr_t{1} << bits_of_ranks(seat)) - 1;
  own_range = static_cast<std::uintptr_t>(seat.rank) << rank_shift;
  home_shift = rank_shift - home_bits;
  home_mask = (std::uintptr_t{1} << home_bits) - 1;
  parts = static_cast<part *>(memory);
  const std::size_t home_bytes = std::size_t{1} << home_shift;
  const auto place_of = [&](unsigned r, int h) {
    return base + (std::uintptr_t{r} << region_shift) + own_range +
           static_cast<std::uintptr_t>(h) * home_bytes;
  };
  constexpr unsigned sparse = stack_region(first_sparse_log2);
  const bool code = os::wants_code_on_stacks();
  for (unsigned r = 0; r < region_count; ++r) {
    for (int h = 0; h < homes; ++h) {
      // A map has two bits an object of 64 bytes at least: a 256th of the objects' bytes, of which there is
      // a 32nd here.
      const std::uintptr_t map =
          place_of(static_cast<unsigned>(region::maps), h) + home_bytes / region_count * r;
      auto *p = new (&at(r, h)) part;
      p->place(place_of(r, h), home_bytes, object_size(r), map, r < sparse || r >= stack_regions,
               code && r < stack_regions);
    }
  }
  os::advise_small(reinterpret_cast<void *>(place_of(sparse, 0)),
                   std::size_t{stack_regions - sparse} << region_shift);
  return true;
}

void area::close() noexcept {
  if (size == 0)
    return;
  os::unmap_pages(parts, sizeof(part) * region_count * static_cast<std::size_t>(homes));
  if (!lent)
    os::release(reinterpret_cast<void *>(base), size);
  *this = area{};
}

void *area::carve(unsigned r, int home, std::size_t object_size, std::size_t &count,
                  content &holds) noexcept {
  const std::size_t wanted = count;
  void *result = at(r, home).carve(object_size, count, holds);
  // Only a full part sends its home to the others: memory of a neighbour is second best, but no memory
  // for one home means no memory for any. The neighbours of the own node come first.
  if (result != nullptr || !at(r, home).full(object_size))
    return result;
  const int first = home >> node_shift << node_shift;
  for (int i = 0; i < homes && result == nullptr; ++i) {
    count = wanted;
    result = at(r, (first + i) % homes).carve(object_size, count, holds);
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

std::size_t area::carved(unsigned r) noexcept {
  std::size_t sum = 0;
  for (int h = 0; h < homes; ++h)
    sum += at(r, h).carved();
  return sum;
}

} // namespace nth::detail
