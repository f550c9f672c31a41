// OpenMP tasks with dependencies; compiled twice, for GNU's run-time and for LLVM's.
#include "cholesky/workload.hpp"
#include "common/omp_side.hpp"

namespace {

using namespace bench::cholesky;

double factor(tiled_matrix &a) {
  const long n = a.tile;
  const double begin = bench::now_ns();
  for (long k = 0; k < a.tiles; ++k) {
    double *const diagonal = a(k, k);
#pragma omp task firstprivate(n, diagonal) depend(inout : diagonal[0])
    potrf(n, diagonal);
    for (long i = k + 1; i < a.tiles; ++i) {
      double *const below = a(i, k);
#pragma omp task firstprivate(n, diagonal, below) depend(in : diagonal[0]) depend(inout : below[0])
      trsm(n, diagonal, below);
    }
    for (long i = k + 1; i < a.tiles; ++i) {
      const double *const row = a(i, k);
      for (long j = k + 1; j < i; ++j) {
        const double *const column = a(j, k);
        double *const inner = a(i, j);
#pragma omp task firstprivate(n, row, column, inner) depend(in : row[0], column[0]) depend(inout : inner[0])
        gemm(n, row, column, inner);
      }
      double *const inner = a(i, i);
#pragma omp task firstprivate(n, row, inner) depend(in : row[0]) depend(inout : inner[0])
      syrk(n, row, inner);
    }
  }
#pragma omp taskwait
  return bench::now_ns() - begin;
}

} // namespace

int main(int argc, char **argv) {
  start_blas(argv);
  bench::program p(name, BENCH_COMPETITOR, default_n);
  const workload work(p);
  const auto &o = p.parse(argc, argv);
  const bench::omp_side team(o.workers);
  work.measure(
      o, [&](tiled_matrix &a) { return team.run([&] { return factor(a); }); }, [](bench::result &) {});
}
