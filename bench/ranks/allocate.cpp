// Paper 004, figure 12: what an allocation costs by malloc and by nth_isomalloc, for small and large requests, on rank 0
// of a run on several ranks. Blocks are allocated one after the other, each page of each is written once, then all are
// freed; three times, and the medians of the allocations and their first touch count. One line of JSON a size.
//   allocate malloc | isomalloc
#include "nth/cluster.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <time.h>
#include <vector>

namespace {

constexpr std::size_t most_bytes = std::size_t{32} << 20; // of the blocks of one size
constexpr std::size_t most_blocks = 2000;
constexpr std::size_t page = 4096;

bool by_malloc;

double now_us() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) * 1e-3;
}

nth_cluster_stats stats() {
  nth_cluster_stats s{};
  if (nth_get_cluster_stats(&s) != NTH_OK)
    std::abort();
  return s;
}

void measure(std::size_t size) {
  const std::size_t count = std::min(most_blocks, std::max<std::size_t>(most_bytes / size, 4));
  std::vector<char *> blocks(count);
  std::vector<double> took;
  const long before = stats().purchases;
  for (int round = 0; round < 3; ++round) {
    const double start = now_us();
    for (char *&b : blocks) {
      b = static_cast<char *>(by_malloc ? std::malloc(size) : nth_isomalloc(size));
      if (b == nullptr)
        std::abort();
      for (std::size_t at = 0; at < size; at += page)
        *static_cast<volatile char *>(b + at) = 1;
    }
    took.push_back((now_us() - start) / static_cast<double>(count));
    for (char *b : blocks) {
      if (by_malloc)
        std::free(b);
      else
        nth_isofree(b);
    }
  }
  const double first = took[0]; // while slots are bought, and memory is touched for the first time
  std::sort(took.begin(), took.end());
  std::printf("{\"size\": %zu, \"us\": %.3f, \"first_us\": %.3f, \"lowest_us\": %.3f, \"highest_us\": %.3f, "
              "\"blocks\": %zu, \"purchases\": %ld}\n",
              size, took[1], first, took.front(), took.back(), count, stats().purchases - before);
}

void all_sizes() {
  for (std::size_t size = 16; size <= std::size_t{8} << 20; size *= 2) {
    measure(size);
    if (size >= 4096)
      measure(size + size / 2);
  }
}

} // namespace

int main(int argc, char **argv) {
  if (nth_cluster_init(&argc, &argv, nullptr) != NTH_OK) {
    std::fprintf(stderr, "%s\n", nth_last_error());
    return 1;
  }
  by_malloc = argc > 1 && std::strcmp(argv[1], "malloc") == 0;
  if (nth_rank() == 0 && nth_run(all_sizes, 0) != NTH_OK)
    return 1;
  return nth_cluster_barrier() == NTH_OK && nth_cluster_finalize() == NTH_OK ? 0 : 1;
}
