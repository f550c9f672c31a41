// Arrays of doubles on huge pages where the kernel gives them: kernel 6 walks columns, a page further each step.
#ifndef NTH_BENCH_LIVERMORE_ARRAY_HPP
#define NTH_BENCH_LIVERMORE_ARRAY_HPP

#include "common/harness.hpp"

#include <cstdint>
#include <cstdlib>
#include <memory>

#include <sys/mman.h>

namespace bench::livermore {

struct release {
  void operator()(double *p) const { std::free(p); }
};
using array = std::unique_ptr<double[], release>;

inline array make_array(long count) {
  constexpr std::size_t huge = 2UL << 20;
  const std::size_t bytes = (static_cast<std::size_t>(count) * sizeof(double) + huge - 1) / huge * huge;
  void *p = std::aligned_alloc(huge, bytes);
  if (p == nullptr)
    fail("livermore: no memory for an array");
  madvise(p, bytes, MADV_HUGEPAGE); // a wish
  return array(static_cast<double *>(p));
}

// Numbers in [0, 1) that are the same in every program.
class numbers {
public:
  double next() {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<double>(state >> 11) * 0x1p-53;
  }

private:
  std::uint64_t state = 2006;
};

} // namespace bench::livermore

#endif
