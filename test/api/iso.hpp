// What the tests of nth/iso.h share.
#pragma once

#include "../support/message.hpp"
#include "../support/reports.hpp"
#include "../support/runtime.hpp"
#include "../support/size.hpp"
#include "nth/iso.h"

#include <cerrno>
#include <cstdint>
#include <cstring>

namespace nth::test {

inline nth_iso_stats iso_stats() {
  nth_iso_stats result = {};
  EXPECT_EQ(nth_get_iso_stats(&result), NTH_OK) << nth_last_error();
  return result;
}

// Of what is there: the compiler would take it from the declaration of whoever allocated.
inline bool is_multiple(const void *block, std::size_t of) {
  const volatile std::uintptr_t address = reinterpret_cast<std::uintptr_t>(block);
  return address % of == 0;
}

// Bytes of a pattern of its own for each block.
inline void fill(void *block, std::size_t bytes, unsigned seed) {
  auto *p = static_cast<unsigned char *>(block);
  for (std::size_t i = 0; i < bytes; ++i)
    p[i] = static_cast<unsigned char>(seed + i * 7);
}
inline bool is_filled(const void *block, std::size_t bytes, unsigned seed) {
  const auto *p = static_cast<const unsigned char *>(block);
  for (std::size_t i = 0; i < bytes; ++i)
    if (p[i] != static_cast<unsigned char>(seed + i * 7))
      return false;
  return true;
}

// Allocates, writes and frees some blocks of several sizes. For whoever shall be seen to be able to.
inline void work_with_blocks(unsigned seed) {
  constexpr std::size_t sizes[] = {1, 40, 700, 5000, 30'000, 100'000};
  void *blocks[6] = {};
  for (unsigned i = 0; i < 6; ++i) {
    blocks[i] = nth_isomalloc(sizes[i]);
    ASSERT_NE(blocks[i], nullptr) << nth_last_error();
    fill(blocks[i], sizes[i], seed + i);
  }
  for (unsigned i = 0; i < 6; ++i) {
    EXPECT_TRUE(is_filled(blocks[i], sizes[i], seed + i)) << sizes[i];
    nth_isofree(blocks[i]);
  }
}

// No slot is taken any more but the rank's own, when threads have ended: soon, for a thread tells its successors
// before its heap is seen to have ended.
inline void expect_slots_taken(long count) {
  spin_until([&] { return iso_stats().slots_taken <= count; });
  EXPECT_EQ(iso_stats().slots_taken, count);
}

} // namespace nth::test
