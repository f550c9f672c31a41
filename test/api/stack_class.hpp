// What the tests of stack classes share.
#pragma once

#include "../support/runtime.hpp"

// In C, without frames that a compiler would add for C++.
extern "C" {
#include "stack_class_roots.h"
}

namespace nth::test {

using root = void (*)();

inline nth_stats stats() {
  nth_stats s;
  EXPECT_EQ(nth_get_stats(&s), NTH_OK);
  return s;
}

inline int class_of_bytes(long bytes) {
  int c = 0;
  while (256L << c < bytes)
    ++c;
  return c;
}

// The smallest class that a build has.
#if defined(NTH_ASAN) || defined(NTH_TSAN)
constexpr long smallest = 16 << 10;
#elif defined(NTH_UBSAN) || !defined(NDEBUG)
constexpr long smallest = 4 << 10;
#else
constexpr long smallest = 256;
#endif

} // namespace nth::test
