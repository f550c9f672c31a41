// A slot from the cache and back, by one kernel thread: iso_slots [partitioned | cyclic].
#include "iso/slots.hpp"

#include <algorithm>
#include <cstdio>
#include <time.h>

namespace {

namespace iso = nth::detail::iso;

double now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

} // namespace

int main(int argc, char **argv) {
  iso::slot_setting setting;
  setting.bytes = std::size_t{16} << 40;
  setting.ranks = 2;
  if (!setting.spread.parse(argc > 1 ? argv[1] : nullptr) || !iso::the_slots.open(setting))
    return std::fputs("no slots\n", stderr), 1;
  constexpr int loops = 11, pairs = 1'000'000;
  double ns[loops];
  for (double &one : ns) {
    const double begin = now_ns();
    for (int i = 0; i < pairs; ++i) {
      iso::slot first = 0;
      if (iso::the_slots.take(1, first) != iso::taking::ok)
        return 1;
      iso::the_slots.give(first, 1);
    }
    one = (now_ns() - begin) / pairs;
  }
  std::sort(ns, ns + loops);
  std::printf("a slot taken and given back: %.1f ns (%.1f to %.1f), so %.1f a call\n", ns[loops / 2], ns[0],
              ns[loops - 1], ns[loops / 2] / 2);
}
