// The same kernels in the order in which the tasks are made.
#include "cholesky/workload.hpp"

int main(int argc, char **argv) {
  using namespace bench::cholesky;
  start_blas(argv);
  bench::program p(name, "serial", default_n);
  const workload work(p);
  const auto &o = p.parse(argc, argv);
  bench::pin_self(0);
  work.measure(
      o,
      [](tiled_matrix &a) {
        const double begin = bench::now_ns();
        for (long k = 0; k < a.tiles; ++k) {
          potrf(a.tile, a(k, k));
          for (long i = k + 1; i < a.tiles; ++i)
            trsm(a.tile, a(k, k), a(i, k));
          for (long i = k + 1; i < a.tiles; ++i) {
            for (long j = k + 1; j < i; ++j)
              gemm(a.tile, a(i, k), a(j, k), a(i, j));
            syrk(a.tile, a(i, k), a(i, i));
          }
        }
        return bench::now_ns() - begin;
      },
      [](bench::result &) {});
}
