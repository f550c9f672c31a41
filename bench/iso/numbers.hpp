// The same series of numbers for each competitor.
#ifndef NTH_BENCH_ISO_NUMBERS_HPP
#define NTH_BENCH_ISO_NUMBERS_HPP

#include <cstdint>

namespace bench::iso {

class numbers { // xorshift64* (Vigna 2016)
public:
  std::uint32_t next() noexcept {
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    return static_cast<std::uint32_t>(x * 0x2545F4914F6CDD1D >> 32);
  }
  std::uint32_t below(std::uint32_t n) noexcept {
    return static_cast<std::uint32_t>(std::uint64_t{next()} * n >> 32);
  }

private:
  std::uint64_t x{0x9E3779B97F4A7C15};
};

} // namespace bench::iso

#endif
