#include "growth/vectors.hpp"

#include <cpuid.h>

namespace nth::detail {

std::uint64_t vectors_here = 0;

bool find_vectors() noexcept {
  constexpr unsigned osxsave = 1U << 27;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & osxsave) == 0)
    return true;
  std::uint32_t low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  const std::uint64_t wanted = low & vector_components;
  for (unsigned i = 2; i < 8; ++i) {
    if ((wanted >> i & 1) == 0)
      continue;
    if (__get_cpuid_count(0xd, i, &a, &b, &c, &d) == 0 || a + b > vector_state::most) // size, offset
      return false;
  }
  vectors_here = wanted;
  return true;
}

} // namespace nth::detail
