#include "cholesky/blas.hpp"

#include "common/harness.hpp"

#include <cstdlib>

#include <unistd.h>

// Fortran's names: LAPACK's are in the same library, and no header is needed.
extern "C" {
void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info);
void dtrsm_(const char *side, const char *uplo, const char *trans, const char *diag, const int *m,
            const int *n, const double *alpha, const double *a, const int *lda, double *b, const int *ldb);
void dsyrk_(const char *uplo, const char *trans, const int *n, const int *k, const double *alpha,
            const double *a, const int *lda, const double *beta, double *c, const int *ldc);
void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
            const double *alpha, const double *a, const int *lda, const double *b, const int *ldb,
            const double *beta, double *c, const int *ldc);
void openblas_set_num_threads(int);
char *openblas_get_corename(void);
}

namespace bench::cholesky {

namespace {
constexpr double one = 1, minus_one = -1;
}

void start_blas(char **argv) {
  openblas_set_num_threads(1);
  bool again = false;
  if (std::getenv("OPENBLAS_NUM_THREADS") == nullptr) {
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    again = true;
  }
  if (std::getenv("OPENBLAS_CORETYPE") == nullptr && blas_kernels() == "Prescott") {
    const char *better = nullptr;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
      better = "SkylakeX";
    else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
      better = "Haswell";
    if (better != nullptr) {
      setenv("OPENBLAS_CORETYPE", better, 1);
      again = true;
    }
  }
  if (again) {
    execv("/proc/self/exe", argv);
    fail("cholesky: cannot start over with OPENBLAS_NUM_THREADS=1");
  }
}

std::string blas_kernels() { return openblas_get_corename(); }

void potrf(long n, double *a) {
  const int m = static_cast<int>(n);
  int info = 0;
  dpotrf_("L", &m, a, &m, &info);
  if (info != 0)
    fail("cholesky: dpotrf: a tile is not positive definite");
}

void trsm(long n, const double *l, double *a) {
  const int m = static_cast<int>(n);
  dtrsm_("R", "L", "T", "N", &m, &m, &one, l, &m, a, &m);
}

void syrk(long n, const double *a, double *c) {
  const int m = static_cast<int>(n);
  dsyrk_("L", "N", &m, &m, &minus_one, a, &m, &one, c, &m);
}

void gemm(long n, const double *a, const double *b, double *c) {
  const int m = static_cast<int>(n);
  dgemm_("N", "T", &m, &m, &m, &minus_one, a, &m, b, &m, &one, c, &m);
}

} // namespace bench::cholesky
