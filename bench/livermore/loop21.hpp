// Livermore kernel 21, matrix product (McMahon 1986), n × 25 by 25 × 25:
//
//   for (k = 0; k < 25; k++)
//     for (i = 0; i < 25; i++)
//       for (j = 0; j < n; j++)
//         px[j][i] += vy[k][i] * cx[j][k];
//
// In this order each of 625 passes goes through both large arrays; row by row each is read once. An element's terms
// come in the same order either way, so results must be the same to the last bit.
#ifndef NTH_BENCH_LIVERMORE_LOOP21_HPP
#define NTH_BENCH_LIVERMORE_LOOP21_HPP

#include "livermore/array.hpp"

#include <string>

namespace bench::livermore {

class loop21 {
public:
  static constexpr const char *workload = "livermore21";
  static constexpr long default_n = 200'001;
  static constexpr long side = 25;

  explicit loop21(long n); // sets the arrays and multiplies serially
  loop21(const loop21 &) = delete;
  loop21 &operator=(const loop21 &) = delete;

  long rows() const { return n; }

  void reset(); // before each product
  void check(const std::string &variant) const;

  void kernel_order(long first, long last); // rows [first, last) in the kernel's order of loops
  void row(long j);

private:
  const long n;
  array px, cx, vy, expected;
};

} // namespace bench::livermore

#endif
