#include "livermore/loop6.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>
#include <sched.h>

namespace bench::livermore {

namespace {

void look_again() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

} // namespace

loop6::loop6(long n) : n(n), b(make_array(n * n)), w(make_array(n)) {
  // Positive and of mean 1/n: w grows from 0.01 to 0.01 e, and no digits are lost.
  numbers random;
  for (long k = 0; k < n; ++k)
    for (long i = k + 1; i < n; ++i)
      b[k * n + i] = 2 * random.next() / static_cast<double>(n);

  reset();
  as_printed();
  const std::vector<double> printed(w.get(), w.get() + n);
  reset();
  for (long i = 1; i < n; ++i)
    row(i);
  expected.assign(w.get(), w.get() + n);
  for (long i = 0; i < n; ++i)
    if (!(std::abs(expected[i] - printed[i]) <= tolerance * printed[i]))
      fail(fmt::format("livermore6: w[{}] is {} in the parallel form's order, {} in the kernel's", i,
                       expected[i], printed[i]));
}

void loop6::reset() {
  std::fill_n(w.get(), n, 0.01);
  ready.store(1, std::memory_order_relaxed);
  begun.store(1, std::memory_order_relaxed);
}

void loop6::check(const std::string &variant) const {
  for (long i = 0; i < n; ++i)
    if (w[i] != expected[i])
      fail(fmt::format("livermore6, {}: w[{}] is {}, not {}", variant, i, w[i], expected[i]));
}

void loop6::as_printed() {
  for (long i = 1; i < n; ++i) {
    w[i] = 0.01;
    for (long k = 0; k < i; ++k)
      w[i] += coefficient(k, i) * w[i - k - 1];
  }
}

// Acquire, with the release in publish: who sees the count sees the elements below it, also those of other rows, for
// each publisher had seen the one before.
long loop6::wait_for(long j) const {
  for (long looked = 0;;) {
    const long known = ready.load(std::memory_order_acquire);
    if (known > j)
      return known;
    if (++looked < 100) {
      look_again();
    } else {
      sched_yield(); // the kernel thread that solves row j may be off its core
      looked = 0;
    }
  }
}

void loop6::publish(long i) { ready.store(i + 1, std::memory_order_release); }

void loop6::row(long i) {
  double sum = 0.01;
  for (long j = 0; j < i;)
    for (const long known = wait_for(j); j < known; ++j) // known <= i: row i itself is not ready
      sum += coefficient(i - j - 1, i) * w[j];
  w[i] = sum;
  publish(i);
}

void loop6::sweep(long first, long last) {
  long known = 1;
  for (long j = 0; j < last; ++j) {
    if (j >= first)
      publish(j);
    else if (j >= known)
      known = wait_for(j);
    const double element = w[j];
    for (long i = std::max(first, j + 1); i < last; ++i)
      w[i] += coefficient(i - j - 1, i) * element;
  }
}

} // namespace bench::livermore
