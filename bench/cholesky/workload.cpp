#include "cholesky/workload.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>

namespace bench::cholesky {

namespace {

constexpr long sizes[] = {32, 64, 128, 256};

// Of a tile of L with its upper triangle, which is left from A, as zeros.
std::vector<double> lower(const double *tile, long n) {
  std::vector<double> copy(tile, tile + n * n);
  for (long column = 1; column < n; ++column)
    std::fill_n(copy.begin() + column * n, column, 0.0);
  return copy;
}

} // namespace

long problem::tasks() const {
  const long t = order / tile;
  return t + t * (t - 1) + t * (t - 1) * (t - 2) / 6;
}

double problem::flops() const { return std::pow(static_cast<double>(order), 3) / 3; }

tiled_matrix matrix(const problem &p) {
  tiled_matrix a(p.order, p.tile);
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> entry(-1, 1);
  for (double &e : a.elements)
    e = entry(random);
  // More on the diagonal than all else in its row together.
  for (long i = 0; i < a.tiles; ++i)
    for (long d = 0; d < p.tile; ++d)
      a(i, i)[d * p.tile + d] = static_cast<double>(p.order);
  return a;
}

double residual(const tiled_matrix &a, const tiled_matrix &l) {
  const long n = a.tile;
  double worst = 0, largest = 0;
  for (long j = 0; j < a.tiles; ++j) {
    const std::vector<double> diagonal = lower(l(j, j), n);
    for (long i = j; i < a.tiles; ++i) {
      std::vector<double> rest(a(i, j), a(i, j) + n * n);
      for (long k = 0; k < j; ++k)
        gemm(n, l(i, k), l(j, k), rest.data());
      gemm(n, i == j ? diagonal.data() : l(i, j), diagonal.data(), rest.data());
      for (long column = 0; column < n; ++column)
        for (long row = i == j ? column : 0; row < n; ++row) {
          const double one = std::abs(rest[static_cast<std::size_t>(column * n + row)]);
          if (!(one <= worst)) // also what is not a number
            worst = std::isnan(one) ? std::numeric_limits<double>::infinity() : one;
          largest = std::max(largest, std::abs(a(i, j)[column * n + row]));
        }
    }
  }
  return worst / (largest * static_cast<double>(a.tiles * n) * std::numeric_limits<double>::epsilon());
}

workload::workload(program &of) : p(of) {
  p.option("--order", order, "rows of the matrix; 0: from n, 2048 by default");
  p.option("--tile", tile, "rows of a tile; 0: 32, 64, 128 and 256");
}

// The largest order, a multiple of the largest tile, with n tasks or fewer at the smallest.
std::vector<problem> workload::problems(long n) const {
  const long finest = tile > 0 ? tile : sizes[0], unit = tile > 0 ? tile : sizes[std::size(sizes) - 1];
  problem q{order > 0 ? order : unit, finest};
  if (order == 0)
    while (problem{q.order + unit, finest}.tasks() <= n)
      q.order += unit;
  if (finest < 1 || q.order < 1 || q.order % unit != 0)
    fail("cholesky: --order must be a multiple of the tiles");
  if (tile > 0)
    return {q};
  std::vector<problem> all;
  for (const long size : sizes)
    all.push_back({q.order, size});
  return all;
}

std::string workload::title(const problem &q) {
  return std::to_string(q.order) + ", tiles of " + std::to_string(q.tile);
}

void workload::check(const tiled_matrix &a, const tiled_matrix &l) {
  if (const double found = residual(a, l); !(found <= highest_residual))
    fail("cholesky: A - L L^T is " + std::to_string(found) + " times the precision of A, more than " +
         std::to_string(highest_residual));
}

// One entry of the last tile wrong by a millionth must be found.
void workload::check_of_check(const tiled_matrix &a, tiled_matrix &l) {
  l(l.tiles - 1, l.tiles - 1)[l.tile * l.tile - 1] *= 1 + 1e-6;
  if (residual(a, l) <= highest_residual)
    fail("cholesky: the check did not see a wrong entry");
}

void workload::numbers(const problem &q, result &r) {
  r.count("gflops", q.flops() / (median(r.samples) * static_cast<double>(q.tasks())));
  r.count("kernels", blas_kernels());
}

} // namespace bench::cholesky
