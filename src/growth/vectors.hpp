// The registers that nth_growth_enter and nth_growth_leave keep and that general code may change: vectors, masks, x87
// and their control words. AMX tiles are left alone: nothing that nth calls uses them.
#pragma once

#include <cstdint>

namespace nth::detail {

// Where xsave puts them, in its standard form.
struct alignas(64) vector_state {
  static constexpr unsigned header = 512;
  static constexpr unsigned most = 2752;
  unsigned char bytes[most];
};

// x87, SSE, AVX, masks, the upper halves of zmm0 … 15, zmm16 … 31.
constexpr std::uint64_t vector_components = 0xe7;
// Those that this processor and its kernel have; 0: no xsave, so fxsave saves all there is.
extern std::uint64_t vectors_here;
bool find_vectors() noexcept; // false: they take more than vector_state has

[[gnu::always_inline]] inline void save_vectors(vector_state &to) noexcept {
  const auto low = static_cast<std::uint32_t>(vectors_here);
  if (low == 0) {
    asm volatile("fxsave64 %0" : "=m"(to));
    return;
  }
  auto *header = reinterpret_cast<volatile std::uint64_t *>(to.bytes + vector_state::header);
  for (int i = 0; i < 8; ++i)
    header[i] = 0;
  asm volatile("xsave64 %0" : "+m"(to) : "a"(low), "d"(0));
}

[[gnu::always_inline]] inline void restore_vectors(const vector_state &from) noexcept {
  const auto low = static_cast<std::uint32_t>(vectors_here);
  if (low == 0)
    asm volatile("fxrstor64 %0" : : "m"(from));
  else
    asm volatile("xrstor64 %0" : : "m"(from), "a"(low), "d"(0));
}

} // namespace nth::detail
