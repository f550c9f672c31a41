// Sizes of blocks.
//
//   class   0 … 15   16, 32 … 256                       a step of 16
//          16 … 55   288, 320 … 512, 576 … 1024 … 8192  eight a doubling
//          56 … 116  1 … 61 KiB                         spans: one block a run, of so many units
//             117    no block begins in this unit
//
// A class is (number of blocks) * size = units * 1 KiB exactly, so a run ends with its last block, and a block begins
// at a multiple of gcd(size, 1 KiB).
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace nth::detail::iso {

constexpr std::size_t unit_bytes = 1024;
constexpr unsigned units_of_chunk = 64;
constexpr unsigned header_units = 3;
constexpr unsigned most_units = units_of_chunk - header_units; // of a run

constexpr unsigned list_classes = 56; // whose runs hold several blocks, or would
constexpr unsigned first_span = list_classes;
constexpr unsigned no_class = first_span + most_units;
constexpr std::size_t most_small = 1024;
constexpr std::size_t most_listed = 8192;                  // bytes of the largest listed class
constexpr std::size_t most_span = most_units * unit_bytes; // and of the largest span

constexpr unsigned recent_classes = 40; // blocks of up to 2 KiB: recent.hpp

struct class_facts {
  std::uint32_t size;
  // The upper half of offset * reciprocal is offset / size for every offset in a chunk, and the lower half is below
  // the reciprocal exactly for multiples of the size (Lemire, Kaser, Kurz 2019). 0 for no_class: nothing is found then.
  std::uint32_t reciprocal;
  std::uint64_t all; // a bit a block
};

constexpr std::uint32_t size_of_class(unsigned c) noexcept {
  if (c < 16)
    return 16 * (c + 1);
  if (c < list_classes)
    return (9 + (c - 16) % 8) << (5 + (c - 16) / 8);
  return c < no_class ? static_cast<std::uint32_t>((c - first_span + 1) * unit_bytes) : 1;
}

// Units of a run. The least that leaves nothing over; doubled while that gives more blocks at little length: of small
// blocks up to 64 in 4 units, of larger ones up to 8 in 8 units.
constexpr unsigned units_of_class(unsigned c) noexcept {
  const std::uint32_t size = size_of_class(c);
  if (c >= first_span)
    return c - first_span + 1;
  unsigned units = size >> std::countr_zero(size);
  if (std::countr_zero(size) > 10)
    units <<= std::countr_zero(size) - 10;
  const auto blocks = [&] { return units * unit_bytes / size; };
  while ((units * 2 <= 4 && blocks() * 2 <= 64) || (units * 2 <= 8 && blocks() < 8))
    units *= 2;
  return units;
}

constexpr class_facts facts_of_class(unsigned c) noexcept {
  if (c >= no_class)
    return {1, 0, 0};
  const std::uint32_t size = size_of_class(c);
  const auto blocks = units_of_class(c) * unit_bytes / size;
  return {size, static_cast<std::uint32_t>(((std::uint64_t{1} << 32) + size - 1) / size),
          ~std::uint64_t{0} >> (64 - blocks)};
}

namespace tables {
template <class T, std::size_t n, class F>
constexpr std::array<T, n> make(F f) noexcept {
  std::array<T, n> all{};
  for (unsigned i = 0; i < n; ++i)
    all[i] = static_cast<T>(f(i));
  return all;
}

// The class of a size above 256: the leading four bits of size - 1 say it.
constexpr unsigned class_above(std::size_t size) noexcept {
  const std::size_t last = size - 1;
  const auto log2 = static_cast<unsigned>(std::bit_width(last)) - 1;
  return 16 + (log2 - 8) * 8 + (static_cast<unsigned>(last >> (log2 - 3)) & 7);
}

inline constexpr auto small = make<std::uint8_t, 65>( // by (size + 15) / 16
    [](unsigned i) { return i == 0    ? 0
                            : i <= 16 ? i - 1
                                      : class_above(i * 16); });
} // namespace tables

inline constexpr auto facts = tables::make<class_facts, no_class + 1>(facts_of_class);

// What the short way of a free needs to know; it is for the classes that have a chain: no block of another is exact.
struct short_facts {
  std::uint64_t reciprocal;
  std::uint64_t all;
};
inline constexpr auto shortly = tables::make<short_facts, no_class + 1>([](unsigned c) {
  return short_facts{c < recent_classes ? facts_of_class(c).reciprocal : 0, facts_of_class(c).all};
});
inline constexpr auto class_units = tables::make<std::uint8_t, no_class + 1>(units_of_class);

// Of sizes up to most_small.
constexpr unsigned class_of_small(std::size_t size) noexcept { return tables::small[(size + 15) / 16]; }
// Of sizes up to most_listed.
constexpr unsigned class_of(std::size_t size) noexcept {
  return size <= most_small ? class_of_small(size) : tables::class_above(size);
}
// Of sizes up to most_span.
constexpr unsigned span_class(std::size_t size) noexcept {
  return first_span - 1 + static_cast<unsigned>((size + unit_bytes - 1) / unit_bytes);
}
// Of any size: no_class above most_span.
constexpr unsigned class_of_block(std::size_t size) noexcept {
  return size <= most_listed ? class_of(size) : size <= most_span ? span_class(size) : no_class;
}

} // namespace nth::detail::iso
