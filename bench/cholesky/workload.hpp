// cholesky: the tiled Cholesky factorization of a dense matrix, a task for each kernel on a tile, which runs when the
// tasks that write its tiles before have ended; ns a task.
#ifndef NTH_BENCH_CHOLESKY_WORKLOAD_HPP
#define NTH_BENCH_CHOLESKY_WORKLOAD_HPP

#include "cholesky/blas.hpp"
#include "common/harness.hpp"

#include <cstddef>
#include <vector>

namespace bench::cholesky {

inline constexpr const char *name = "cholesky";
inline constexpr long default_n = 45'760; // tasks of the finest tiling of order 2048

// The lower triangle in square tiles, each in one piece of memory.
class tiled_matrix {
public:
  tiled_matrix(long order, long tile)
      : tile(tile), tiles(order / tile),
        elements(static_cast<std::size_t>(tiles * (tiles + 1) / 2 * tile * tile)) {}

  double *operator()(long i, long j) { return elements.data() + (i * (i + 1) / 2 + j) * tile * tile; }
  const double *operator()(long i, long j) const {
    return elements.data() + (i * (i + 1) / 2 + j) * tile * tile;
  }

  long tile;  // columns of a tile
  long tiles; // in a column of the matrix
  std::vector<double> elements;
};

struct problem {
  long order, tile;

  long tasks() const;
  double flops() const; // n^3 / 3, as is usual
};

// Symmetric, positive definite, the same each time.
tiled_matrix matrix(const problem &p);

// max |A - L L^T| in units of max |A| * order * 2^-52.
double residual(const tiled_matrix &a, const tiled_matrix &l);
inline constexpr double highest_residual = 1;

// Measures `factor(matrix)`, which returns the nanoseconds that it took, with tiles of several sizes or that of
// --tile; `done(result)` adds counts. Each factor is checked.
class workload {
public:
  explicit workload(program &p); // adds --order and --tile

  template <class Factor, class Done>
  void measure(const settings &o, Factor factor, Done done) const {
    for (const problem &q : problems(o.n)) {
      const tiled_matrix a = matrix(q);
      tiled_matrix l = a;
      auto r = p.measure(title(q), q.tasks(), [&]() -> double {
        l.elements = a.elements;
        const double ns = factor(l);
        check(a, l);
        return ns;
      });
      check_of_check(a, l);
      numbers(q, r);
      done(r);
      p.report(std::move(r));
    }
  }

private:
  std::vector<problem> problems(long n) const;
  static std::string title(const problem &q);
  static void check(const tiled_matrix &a, const tiled_matrix &l);
  static void check_of_check(const tiled_matrix &a, tiled_matrix &l);
  static void numbers(const problem &q, result &r);

  program &p;
  long order = 0, tile = 0;
};

} // namespace bench::cholesky

#endif
