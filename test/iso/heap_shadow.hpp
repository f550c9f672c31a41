// What a test believes of the area: a bit for each 16 bytes that lie in a live block, and each live block's content.
#pragma once

#include "heap_area.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace nth::detail::iso {

class shadow {
public:
  shadow() : bits(the_slots.bytes() / 1024 + 1) {}

  // Whether nothing of [p, p + bytes) was in a block; then it is.
  bool enter(const void *p, std::size_t bytes) { return flip(p, bytes, 0); }
  bool leave(const void *p, std::size_t bytes) { return flip(p, bytes, ~std::uint64_t{0}); }

private:
  bool flip(const void *p, std::size_t bytes, std::uint64_t expected) {
    bool right = true;
    std::size_t i = (reinterpret_cast<std::uintptr_t>(p) - the_slots.base()) / 16;
    for (std::size_t n = (bytes + 15) / 16; n != 0;) {
      const std::size_t here = std::min(n, 64 - i % 64);
      const std::uint64_t mask = (~std::uint64_t{0} >> (64 - here)) << i % 64;
      right &= ((bits[i / 64] ^ expected) & mask) == 0;
      bits[i / 64] ^= mask;
      i += here;
      n -= here;
    }
    return right;
  }
  std::vector<std::uint64_t> bits;
};

struct live_block {
  unsigned char *at;
  std::size_t size;
  std::size_t room;
  std::uint64_t seed;
};

// The block's first and last words, and some between.
template <class F>
bool each_word(const live_block &b, F f) {
  bool right = true;
  const std::size_t step = std::max<std::size_t>(8, b.size / 64 * 8);
  for (std::size_t i = 0; i + 16 <= b.size; i += step)
    right &= f(b.at + i, b.seed + i, std::size_t{8});
  const std::size_t rest = std::min<std::size_t>(b.size, 8);
  return right & f(b.at + b.size - rest, b.seed, rest);
}
inline void paint(const live_block &b) {
  each_word(
      b, [](unsigned char *p, std::uint64_t v, std::size_t n) { return std::memcpy(p, &v, n) != nullptr; });
}
inline bool is_painted(const live_block &b) {
  return each_word(
      b, [](const unsigned char *p, std::uint64_t v, std::size_t n) { return std::memcmp(p, &v, n) == 0; });
}

} // namespace nth::detail::iso
