// Long random traces. NTH_TRACE_OPERATIONS=100000000 for the long one.
#include "heap_trace.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace iso = nth::detail::iso;

namespace {

class numbers {
public:
  explicit numbers(std::uint64_t seed) : x(seed * 0x9E3779B97F4A7C15 + 1) {}
  std::uint64_t next() {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return x;
  }
  // Log-uniform from 1 to 2^log2.
  std::size_t size(unsigned log2) {
    const std::uint64_t r = next();
    return 1 + (r >> 32) % (std::size_t{2} << r % log2);
  }

private:
  std::uint64_t x;
};

void random_trace(unsigned slot_log2, std::size_t heaps, std::size_t limit, unsigned log2,
                  std::size_t count) {
  const iso::heap_area area(std::size_t{1} << 30, 256, slot_log2);
  iso::trace t(heaps, limit);
  numbers random(slot_log2 + heaps);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t r = random.next();
    iso::trace::owned &o = t.at(r >> 8);
    // Phases of growing and of shrinking.
    const unsigned more = (i >> 17) % 2 == 0 ? 130 : 112;
    const unsigned what = r & 255;
    if (what < more)
      t.get(o, random.size(log2), 16);
    else if (what < 230)
      t.give(o, r >> 16, what % 8 == 0 ? t.at(r >> 12).h : o.h);
    else if (what < 240)
      t.change(o, r >> 16, random.size(log2));
    else if (what < 250)
      t.get(o, random.size(log2), std::size_t{1} << (r >> 20) % 18);
    else if (what < 255)
      t.not_a_block(o, r >> 16, t.at(r >> 12).h);
    else if ((r >> 16) % 64 == 0)
      t.end(o);
    else if ((r >> 16) % 64 == 1)
      t.travel(o);
    else if ((r >> 16) % 64 == 2)
      t.compare(o);
    else if ((r >> 16) % 64 == 3)
      iso::collect(o.h);
  }
}

} // namespace

TEST(heap_trace, small_blocks) { random_trace(16, 5, std::size_t{16} << 20, 9, iso::operations(800'000)); }
TEST(heap_trace, all_sizes) { random_trace(16, 3, std::size_t{256} << 20, 18, iso::operations(500'000)); }
TEST(heap_trace, an_area_that_is_too_small) {
  random_trace(16, 4, std::size_t{2} << 30, 20, iso::operations(300'000));
}
TEST(heap_trace, slots_of_several_chunks) {
  random_trace(18, 4, std::size_t{128} << 20, 16, iso::operations(300'000));
}
TEST(heap_trace, checked) {
  iso::checking = true;
  random_trace(16, 4, std::size_t{16} << 20, 14, iso::operations(100'000));
  iso::checking = false;
}
