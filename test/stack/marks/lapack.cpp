// Marks of LAPACK and BLAS: Fortran, every argument by address; the lengths of texts come last, by value.
#include "marks.hpp"

#include <cmath>

using namespace nth::marks;

namespace {

std::vector<double> matrix(std::size_t rows, std::size_t columns) {
  std::vector<double> m(rows * columns);
  for (double &x : m)
    x = unit() - 0.5;
  return m;
}
std::vector<double> symmetric(std::size_t n) {
  auto m = matrix(n, n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j)
      m[i * n + j] = m[j * n + i];
    m[i * n + i] += static_cast<double>(n);
  }
  return m;
}

struct problem {
  explicit problem(std::size_t size) : n(static_cast<int>(size)), a(matrix(size, size)), s(symmetric(size)) {}
  int n;
  int info = 0;
  int one = 1;
  std::vector<double> a;
  std::vector<double> s;
  std::vector<double> work = std::vector<double>(200000);
  int work_size = 200000;
  std::vector<int> pivots = std::vector<int>(5000);
};

} // namespace

MARKS_ON(linear_systems, 1U << 20U) {
  for (int i = 0; i < rounds(20); ++i) {
    const std::size_t size = 1 + below(i % 4 == 0 ? 150 : 20);
    problem p(size);
    auto b = matrix(size, 3);
    int three = 3;
    auto a = p.a;
    call("dgesv_", &p.n, &three, a.data(), &p.n, p.pivots.data(), b.data(), &p.n, &p.info);
    expect(p.info == 0, "a solved system");
    call("dgetrs_", "N", &p.n, &three, a.data(), &p.n, p.pivots.data(), b.data(), &p.n, &p.info, 1L);
    call("dgetri_", &p.n, a.data(), &p.n, p.pivots.data(), p.work.data(), &p.work_size, &p.info);
    a = p.a;
    call("dgetrf_", &p.n, &p.n, a.data(), &p.n, p.pivots.data(), &p.info);
    a = p.a;
    call("dgetf2_", &p.n, &p.n, a.data(), &p.n, p.pivots.data(), &p.info);
    auto s = p.s;
    call("dposv_", i % 2 == 0 ? "U" : "L", &p.n, &three, s.data(), &p.n, b.data(), &p.n, &p.info, 1L);
    s = p.s;
    call("dpotrf_", "L", &p.n, s.data(), &p.n, &p.info, 1L);
    call("dpotri_", "L", &p.n, s.data(), &p.n, &p.info, 1L);
    s = p.s;
    call("dsytrf_", "U", &p.n, s.data(), &p.n, p.pivots.data(), p.work.data(), &p.work_size, &p.info, 1L);
    a = p.a;
    call("dgels_", "N", &p.n, &p.n, &three, a.data(), &p.n, b.data(), &p.n, p.work.data(), &p.work_size,
         &p.info, 1L);
    std::vector<double> low(size, 0.1);
    std::vector<double> middle(size, 4);
    std::vector<double> high(size, 0.2);
    call("dgtsv_", &p.n, &three, low.data(), middle.data(), high.data(), b.data(), &p.n, &p.info);
    call("dlange_", "F", &p.n, &p.n, p.a.data(), &p.n, p.work.data(), 1L);
  }
}

MARKS_ON(eigenvalues, 1U << 20U) {
  for (int i = 0; i < rounds(12); ++i) {
    const std::size_t size = 1 + below(i % 4 == 0 ? 90 : 12);
    problem p(size);
    std::vector<double> w(size);
    std::vector<double> wi(size);
    auto u = matrix(size, size);
    auto v = matrix(size, size);
    auto s = p.s;
    call("dsyev_", i % 2 == 0 ? "V" : "N", "U", &p.n, s.data(), &p.n, w.data(), p.work.data(), &p.work_size,
         &p.info, 1L, 1L);
    expect(p.info == 0 && w.front() <= w.back(), "eigenvalues in order");
    s = p.s;
    int integers = 5000;
    call("dsyevd_", "V", "L", &p.n, s.data(), &p.n, w.data(), p.work.data(), &p.work_size, p.pivots.data(),
         &integers, &p.info, 1L, 1L);
    auto a = p.a;
    call("dgeev_", "V", "V", &p.n, a.data(), &p.n, w.data(), wi.data(), u.data(), &p.n, v.data(), &p.n,
         p.work.data(), &p.work_size, &p.info, 1L, 1L);
    a = p.a;
    call("dgesvd_", "A", "A", &p.n, &p.n, a.data(), &p.n, w.data(), u.data(), &p.n, v.data(), &p.n,
         p.work.data(), &p.work_size, &p.info, 1L, 1L);
    a = p.a;
    call("dgesdd_", "A", &p.n, &p.n, a.data(), &p.n, w.data(), u.data(), &p.n, v.data(), &p.n, p.work.data(),
         &p.work_size, p.pivots.data(), &p.info, 1L);
    a = p.a;
    call("dgeqrf_", &p.n, &p.n, a.data(), &p.n, w.data(), p.work.data(), &p.work_size, &p.info);
    call("dorgqr_", &p.n, &p.n, &p.n, a.data(), &p.n, w.data(), p.work.data(), &p.work_size, &p.info);
    a = p.a;
    int first = 1;
    call("dgehrd_", &p.n, &first, &p.n, a.data(), &p.n, w.data(), p.work.data(), &p.work_size, &p.info);
    s = p.s;
    call("dsytrd_", "U", &p.n, s.data(), &p.n, w.data(), wi.data(), u.data(), p.work.data(), &p.work_size,
         &p.info, 1L);
  }
}

MARKS(basic_operations) {
  double two = 2;
  double half = 0.5;
  for (int i = 0; i < rounds(40); ++i) {
    const std::size_t size = 1 + below(60);
    problem p(size);
    auto b = p.s;
    auto c = p.a;
    const char *trans = i % 2 == 0 ? "N" : "T";
    const char *half_of = i % 3 == 0 ? "U" : "L";
    call("dgemm_", trans, "N", &p.n, &p.n, &p.n, &two, p.a.data(), &p.n, b.data(), &p.n, &half, c.data(),
         &p.n, 1L, 1L);
    call("dsymm_", "L", half_of, &p.n, &p.n, &two, p.s.data(), &p.n, b.data(), &p.n, &half, c.data(), &p.n,
         1L, 1L);
    call("dsyrk_", half_of, trans, &p.n, &p.n, &two, p.a.data(), &p.n, &half, c.data(), &p.n, 1L, 1L);
    call("dtrsm_", "L", half_of, trans, "N", &p.n, &p.n, &two, p.s.data(), &p.n, c.data(), &p.n, 1L, 1L, 1L,
         1L);
    call("dtrmm_", "R", half_of, trans, "U", &p.n, &p.n, &two, p.s.data(), &p.n, c.data(), &p.n, 1L, 1L, 1L,
         1L);
    double *x = b.data();
    double *y = c.data();
    call("dgemv_", trans, &p.n, &p.n, &two, p.a.data(), &p.n, x, &p.one, &half, y, &p.one, 1L);
    call("dger_", &p.n, &p.n, &two, x, &p.one, y, &p.one, p.a.data(), &p.n);
    call("dtrsv_", half_of, trans, "N", &p.n, p.s.data(), &p.n, x, &p.one, 1L, 1L, 1L);
    call("daxpy_", &p.n, &two, x, &p.one, y, &p.one);
    call("dcopy_", &p.n, x, &p.one, y, &p.one);
    call("dswap_", &p.n, x, &p.one, y, &p.one);
    call("dscal_", &p.n, &half, x, &p.one);
    expect(std::isfinite(call("ddot_", &p.n, x, &p.one, y, &p.one).as<double>()), "a scalar product");
    call("dnrm2_", &p.n, x, &p.one);
    call("dasum_", &p.n, x, &p.one);
    call("idamax_", &p.n, x, &p.one);
    double r[4] = {1, 2, 0, 0};
    call("drotg_", &r[0], &r[1], &r[2], &r[3]);
    call("dlamch_", "E", 1L);
    call("lsame_", "a", "A", 1L, 1L);
    int which = 1;
    int none = -1;
    call("ilaenv_", &which, "DGETRF", " ", &p.n, &p.n, &none, &none, 6L, 1L);
  }
}
