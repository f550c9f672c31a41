// Frees and allocations at random: a set of live blocks of 16 to 1,024 bytes; each operation frees one of them and
// allocates another in its place. The same series of numbers for each competitor.
#ifndef NTH_BENCH_ISO_WORKLOAD_HPP
#define NTH_BENCH_ISO_WORKLOAD_HPP

#include "common/harness.hpp"
#include "iso/fragmentation.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bench::iso {

constexpr const char *name = "iso";
constexpr long default_n = 2'000'000;

// `source` has allocate(size) and release(block). The program: variants by the number of live blocks.
template <class Source>
int main(const char *competitor, int argc, char **argv, Source source) {
  program p(name, competitor, default_n);
  std::string sets = "100,10000,1000000";
  p.option("--live", sets, "numbers of live blocks");
  long mebibytes = 0, phases = 8;
  p.option("--fragmentation", mebibytes, "MiB alive at most: resident bytes are measured in place of time");
  p.option("--phases", phases, "phases of that: growing, steady, shrinking, steady");
  const settings &o = p.parse(argc, argv);
  if (mebibytes != 0) {
    for (const phase &f : fragmentation(source, static_cast<double>(mebibytes) * 1048576, phases))
      std::printf("%-10s %-7s %7.1f MiB alive, %7.1f MiB resident: %.3f\n", competitor, f.kind,
                  f.live / 1048576, f.resident / 1048576, f.resident / f.live);
    return 0;
  }
  for (std::size_t at = 0; at < sets.size();) {
    std::size_t used = 0;
    const auto live = static_cast<std::size_t>(std::stoul(sets.substr(at), &used));
    at += used + 1;
    numbers random;
    const auto size = [&] { return std::size_t{16} + random.below(1009); };
    std::vector<void *> blocks(live);
    for (void *&b : blocks)
      b = source.allocate(size());
    result r = p.measure("live-" + std::to_string(live), o.n, [&] {
      const double begin = now_ns();
      for (long i = 0; i < o.n; ++i) {
        void *&b = blocks[random.below(static_cast<std::uint32_t>(live))];
        source.release(b);
        b = source.allocate(size());
        *static_cast<long *>(b) = i;
      }
      return now_ns() - begin;
    });
    p.report(std::move(r));
    for (void *b : blocks)
      source.release(b);
  }
  return 0;
}

} // namespace bench::iso

#endif
