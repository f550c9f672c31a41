// Livermore kernel 6, general linear recurrence equations (McMahon 1986), of n unknowns:
//
//   for (i = 1; i < n; i++) {
//     w[i] = 0.01;
//     for (k = 0; k < i; k++)
//       w[i] += b[k][i] * w[i - k - 1];
//   }
//
// As printed the first term of a row needs the row before: rows cannot overlap. The parallel form (Feo 1988, which
// paper 003 takes) sums from the other end, j = i - k - 1 upwards, and waits for each w[j] where it needs it. So row
// i + 1 runs just behind row i. Rows get ready in the order of their numbers, for each needs the one before: one
// count of ready elements stands for a flag at each.
#ifndef NTH_BENCH_LIVERMORE_LOOP6_HPP
#define NTH_BENCH_LIVERMORE_LOOP6_HPP

#include "livermore/array.hpp"

#include <atomic>
#include <string>
#include <vector>

namespace bench::livermore {

class loop6 {
public:
  static constexpr const char *workload = "livermore6";
  static constexpr long default_n = 7500;
  // The two orders of summation may differ by this, relatively; parallel results must be those of the second one.
  static constexpr double tolerance = 1e-12;

  explicit loop6(
      long n); // sets the arrays and solves serially, twice: as printed, and in the parallel form's order
  loop6(const loop6 &) = delete;
  loop6 &operator=(const loop6 &) = delete;

  long rows() const { return n - 1; } // 1 to n - 1

  void reset(); // before each solution
  void check(
      const std::string &variant) const; // ends the program when a w is not the serial one, to the last bit

  void as_printed(); // the serial kernel
  // All of row i. Waits for rows below i only, so whoever begins rows in their order cannot deadlock.
  void row(long i);
  // Rows [first, last), each element as soon as it is ready added to all of them: rows one by one would have the
  // second thread finish its first row when the first thread has done its last.
  void sweep(long first, long last);
  // The next row of those that nobody has begun, for schedulers that promise no order of what they run: the lowest
  // row that is not solved is one that a kernel thread is at, and has all that it needs.
  void next_row() { row(begun.fetch_add(1, std::memory_order_relaxed)); }

private:
  long wait_for(long j) const; // the number of ready elements, more than j
  void publish(long i);        // w[i] is ready, and so are all below
  double coefficient(long k, long i) const { return b[k * n + i]; }

  const long n;
  array b; // n × n, of which b[k][i], k < i, is used
  array w;
  std::vector<double> expected;
  alignas(64) std::atomic<long> ready{1};
  alignas(64) std::atomic<long> begun{1};
};

} // namespace bench::livermore

#endif
