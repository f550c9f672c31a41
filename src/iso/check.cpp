// NTH_ISO_CHECK: what lies behind a block's bytes is written, and looked at when the block is freed.
//
//   | size bytes that were asked for | up to 64 bytes: marks | … | seal | size |     to the end of the block's room
#include "iso/chunk.hpp"

#include <cstring>

namespace nth::detail::iso {

namespace {

constexpr unsigned char mark = 0xA5;
constexpr int freed = 0xDF;
constexpr std::size_t most_marks = 64;

struct trailer {
  std::uint64_t seal;
  std::uint64_t size;
};
static_assert(sizeof(trailer) == seal_bytes);

// Another one for each address and size, so that neither copied blocks nor a changed size pass.
std::uint64_t seal_of(std::uintptr_t block, std::size_t size) noexcept {
  std::uint64_t x = (block ^ (std::uint64_t{size} << 20)) +
                    0x9E3779B97F4A7C15; // SplitMix64's finish (Steele, Lea, Flood 2014)
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

std::size_t marks(std::size_t bytes, std::size_t size) noexcept {
  const std::size_t room = bytes - seal_bytes - size;
  return room < most_marks ? room : most_marks;
}

} // namespace

void seal(std::uintptr_t block, std::size_t bytes, std::size_t size) noexcept {
  std::memset(at<char>(block + size), mark, marks(bytes, size));
  *at<trailer>(block + bytes - seal_bytes) = {seal_of(block, size), size};
}

std::size_t sealed_size(std::uintptr_t block, std::size_t bytes) noexcept {
  const trailer &t = *at<trailer>(block + bytes - seal_bytes);
  if (t.size > bytes - seal_bytes || t.seal != seal_of(block, t.size))
    return SIZE_MAX;
  const auto *behind = at<unsigned char>(block + t.size);
  for (std::size_t i = 0; i < marks(bytes, t.size); ++i)
    if (behind[i] != mark)
      return SIZE_MAX;
  return t.size;
}

const void *find_overrun(heap *h) noexcept {
  const void *found = nullptr;
  if (checking)
    for_each_block(
        h,
        [](void *context, void *block, std::size_t bytes) {
          auto &first = *static_cast<const void **>(context);
          if (first == nullptr && sealed_size(address_of(block), bytes) == SIZE_MAX)
            first = block;
        },
        &found);
  return found;
}

void spoil(std::uintptr_t block, std::size_t size) noexcept { std::memset(at<char>(block), freed, size); }

} // namespace nth::detail::iso
