// The four kernels of the tiled factorization, on square tiles of n columns one after the other: BLAS and LAPACK, one
// kernel thread each.
#ifndef NTH_BENCH_CHOLESKY_BLAS_HPP
#define NTH_BENCH_CHOLESKY_BLAS_HPP

#include <string>

namespace bench::cholesky {

// To be called first in main. Starts the program over where OpenBLAS must be told something while it is loaded: to
// make no kernel threads of its own, and which of its kernels to use on a processor that it does not know (0.3.21
// takes its slowest ones, of 2004, on Intel's of 2023). OPENBLAS_NUM_THREADS and OPENBLAS_CORETYPE, where they are
// set, are left alone.
void start_blas(char **argv);
std::string blas_kernels(); // as OpenBLAS calls them

void potrf(long n, double *a);                                  // a = l l^T: a := l
void trsm(long n, const double *l, double *a);                  // a := a l^-T
void syrk(long n, const double *a, double *c);                  // c := c - a a^T, lower triangle
void gemm(long n, const double *a, const double *b, double *c); // c := c - a b^T

} // namespace bench::cholesky

#endif
