// What tests on several ranks share: a check that ends all ranks, words that must be the same on all of them.
#pragma once

#include "nth/cluster.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#define CHECK(condition) ((condition) ? static_cast<void>(0) : ranks::failed(#condition, __FILE__, __LINE__))

namespace ranks {

[[noreturn]] inline void failed(const char *what, const char *file, int line) {
  std::fprintf(stderr, "rank %d: %s:%d: CHECK(%s) failed; last error: %s\n", nth_rank(), file, line, what,
               nth_last_error());
  std::fflush(stderr);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

// The program's own words between ranks, beside those of nth; on a kernel thread outside.
inline std::uint64_t least(std::uint64_t mine) {
  std::uint64_t all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
  return all;
}
inline std::uint64_t most(std::uint64_t mine) {
  std::uint64_t all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  return all;
}
inline std::uint64_t sum(std::uint64_t mine) {
  std::uint64_t all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return all;
}
inline bool same_on_all(std::uint64_t mine) { return least(mine) == most(mine); }

// Runs root(words…) as a thread and waits for it.
inline void run(void (*root)()) { CHECK(nth_run(root, 0) == NTH_OK); }

struct cluster {
  cluster(int *argc, char ***argv, const nth_options *options = nullptr) {
    if (nth_cluster_init(argc, argv, options) != NTH_OK) {
      std::fprintf(stderr, "%s\n", nth_last_error());
      std::exit(3);
    }
  }
  ~cluster() {
    if (nth_cluster_finalize() != NTH_OK)
      failed("nth_cluster_finalize() == NTH_OK", __FILE__, __LINE__);
  }
  cluster(const cluster &) = delete;
  cluster &operator=(const cluster &) = delete;
};

} // namespace ranks
