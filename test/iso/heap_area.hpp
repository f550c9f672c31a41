// An area of slots of a test's own, and what a failed allocation says.
#pragma once

#include "iso/heap.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace nth::detail::iso {

class heap_area {
public:
  explicit heap_area(std::size_t bytes, slot cache = 256, unsigned slot_log2 = least_slot_log2) {
    slot_setting setting;
    setting.bytes = bytes;
    setting.slot_log2 = slot_log2;
    setting.cache = cache;
    if (!the_slots.open(setting) || !open_heaps()) {
      std::fprintf(stderr, "no area of %zu bytes\n", bytes);
      std::abort();
    }
  }
  ~heap_area() {
    close_heaps();
    the_slots.close();
  }
  heap_area(const heap_area &) = delete;
  heap_area &operator=(const heap_area &) = delete;
};

inline heap *new_heap() {
  heap_error why{};
  return make_heap(nullptr, false, why);
}

inline void *get(heap *h, std::size_t size, std::size_t alignment = 16) {
  heap_error why{};
  return allocate(h, size, alignment, false, why);
}

inline heap_error why_not(heap *h, std::size_t size, std::size_t alignment = 16) {
  heap_error why{};
  return allocate(h, size, alignment, false, why) == nullptr ? why : heap_error::none;
}

inline std::size_t room_of(const void *block) {
  heap_error why{};
  return usable(block, why);
}

// The number of operations: of the environment's NTH_TRACE_OPERATIONS, or of NTH_TEST_SIZE.
inline std::size_t operations(std::size_t ci) {
  if (const char *n = std::getenv("NTH_TRACE_OPERATIONS"))
    return std::strtoull(n, nullptr, 10);
  const char *size = std::getenv("NTH_TEST_SIZE");
  const std::string word = size == nullptr ? "ci" : size;
  return word == "ci" ? ci : 10 * ci;
}

} // namespace nth::detail::iso
