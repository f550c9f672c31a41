// How much memory is resident for what is alive: blocks of 16 bytes to 64 KiB, their sizes log-uniform, all bytes written.
// The bytes alive grow, stay while blocks are freed and allocated at random, shrink to a quarter, stay, and so on.
#ifndef NTH_BENCH_ISO_FRAGMENTATION_HPP
#define NTH_BENCH_ISO_FRAGMENTATION_HPP

#include "iso/numbers.hpp"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <unistd.h>
#include <vector>

namespace bench::iso {

inline double resident_bytes() {
  long pages = 0, resident = 0;
  if (std::FILE *f = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(f, "%ld %ld", &pages, &resident) != 2)
      resident = 0;
    std::fclose(f);
  }
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

struct phase {
  const char *kind;
  double live;     // bytes at its end
  double resident; // more than before the first block
};

template <class Source>
std::vector<phase> fragmentation(Source &source, double most, long phases) {
  struct block {
    void *at;
    std::size_t size;
  };
  numbers random;
  std::vector<block> blocks;
  blocks.reserve(static_cast<std::size_t>(most / 16));
  std::vector<phase> result;
  result.reserve(static_cast<std::size_t>(phases) + 1);
  double live = 0;
  const auto add = [&] {
    const auto size = static_cast<std::size_t>(16 * std::exp2(12.0 * random.next() / 4294967296.0));
    void *p = source.allocate(size);
    std::memset(p, 1, size);
    blocks.push_back({p, size});
    live += static_cast<double>(size);
  };
  const auto drop = [&] {
    block &b = blocks[random.below(static_cast<std::uint32_t>(blocks.size()))];
    source.release(b.at);
    live -= static_cast<double>(b.size);
    b = blocks.back();
    blocks.pop_back();
  };
  // The vector's own pages come with its blocks: 16 bytes each.
  const double before = resident_bytes();
  for (long i = 0; i < phases; ++i) {
    const double aim = i % 4 < 2 ? most : most / 4;
    while (live < aim)
      add();
    while (live > aim)
      drop();
    if (i % 2 == 1)
      for (std::size_t n = 20 * blocks.size(); n != 0; --n) {
        if (live > aim)
          drop();
        else
          add();
      }
    const char *kinds[] = {"grown", "steady", "shrunk", "steady"};
    result.push_back({kinds[i % 4], live, resident_bytes() - before});
  }
  for (const block &b : blocks)
    source.release(b.at);
  return result;
}

} // namespace bench::iso

#endif
