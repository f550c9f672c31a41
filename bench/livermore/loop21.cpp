#include "livermore/loop21.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

namespace bench::livermore {

namespace {

double initial(long at) { return static_cast<double>(at % 101) * 0.01; }

} // namespace

loop21::loop21(long n)
    : n(n), px(make_array(n * side)), cx(make_array(n * side)), vy(make_array(side * side)),
      expected(make_array(n * side)) {
  numbers random;
  std::generate_n(cx.get(), n * side, [&] { return random.next(); });
  std::generate_n(vy.get(), side * side, [&] { return random.next(); });
  reset();
  kernel_order(0, n);
  std::swap(px, expected);
}

void loop21::reset() {
  for (long at = 0; at < n * side; ++at)
    px[at] = initial(at);
}

void loop21::check(const std::string &variant) const {
  for (long at = 0; at < n * side; ++at)
    if (px[at] != expected[at])
      fail(fmt::format("livermore21, {}: px[{}][{}] is {}, not {}", variant, at / side, at % side, px[at],
                       expected[at]));
}

void loop21::kernel_order(long first, long last) {
  double *const to = px.get();
  const double *const from = cx.get();
  for (long k = 0; k < side; ++k)
    for (long i = 0; i < side; ++i)
      for (long j = first; j < last; ++j)
        to[j * side + i] += vy[k * side + i] * from[j * side + k];
}

void loop21::row(long j) {
  double *const __restrict to = px.get() + j * side;
  const double *const __restrict from = cx.get() + j * side;
  const double *const __restrict by = vy.get();
  for (long k = 0; k < side; ++k)
    for (long i = 0; i < side; ++i)
      to[i] += by[k * side + i] * from[k];
}

} // namespace bench::livermore
