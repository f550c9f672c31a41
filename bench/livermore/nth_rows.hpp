// The variants of nth, for both loops: a thread for each worker, or one for each row, put singly or in batches.
#ifndef NTH_BENCH_LIVERMORE_NTH_ROWS_HPP
#define NTH_BENCH_LIVERMORE_NTH_ROWS_HPP

#include "common/nth_side.hpp"
#include "livermore/workload.hpp"

#include <nth/loop.h>
#include <nth/nth.h>

namespace bench::livermore {

inline constexpr long batch_size = 8; // paper 003, section 5

// Runs master() as a thread and returns the nanoseconds that it took.
template <class Master>
double timed_in_nth(Master master) {
  struct call {
    Master &master;
    double ns;
  } c{master, 0};
  if (const nth_status s = nth_run(
          +[](call *c) { c->ns = timed(c->master); }, 1, &c);
      s != NTH_OK)
    fail(nth_strstatus(s));
  return c.ns;
}

inline nth_desc *made(nth_desc *thread) {
  if (thread == nullptr) // dependencies on threads that could not be made would never be met
    fail("livermore: no memory for a thread");
  return thread;
}

// `part(loop, p, parts)` on as many threads as there are workers.
template <class Loop>
void equal(Loop &loop, void (*part)(Loop *, long p, long parts)) {
  nth_desc *const self = nth_self();
  nth_depadd(self, kthreads + 1);
  for (long p = 0; p < kthreads; ++p)
    nth_to_lrq(static_cast<int>(p),
               made(nth_create_ls(part, 0, self, 3, &loop, p, static_cast<long>(kthreads))));
  nth_block();
}

// Figure 4 of the paper.
template <class Loop>
void natural(Loop &loop, void (*row)(Loop *, long i)) {
  nth_desc *const self = nth_self();
  nth_depadd(self, loop.rows() + 1);
  for (long i = 0; i < loop.rows(); ++i)
    nth_to_lrq(static_cast<int>(i % kthreads), made(nth_create_ls(row, 0, self, 2, &loop, i)));
  nth_block();
}

// Figure 5.
template <class Loop>
void batch(Loop &loop, void (*row)(Loop *, long i)) {
  nth_desc *const self = nth_self();
  long i = 0;
  const auto put = [&](long b, long size) {
    nth_desc *last = nullptr;
    nth_desc *const first = nth_batch_get_desc(&last, size);
    if (size > 0)
      made(first);
    for (nth_desc *t = first; t != nullptr; t = nth_batch_get_next(t))
      nth_batch_create_ls(t, reinterpret_cast<void (*)()>(row), 0, self, 2, &loop, i++);
    nth_batch_to_lrq(static_cast<int>(b % kthreads), first, last);
  };

  nth_depadd(self, loop.rows() + 1);
  const long batches = loop.rows() / batch_size;
  for (long b = 0; b < batches; ++b)
    put(b, batch_size);
  put(0, loop.rows() % batch_size);
  nth_block();
}

// Pieces of whatever size the library chooses.
template <class Loop>
void parallel_for(Loop &loop, void (*row)(Loop *, long i)) {
  struct body {
    Loop &loop;
    void (*row)(Loop *, long i);
  } b{loop, row};
  const auto piece = [](long first, long last, void *p) {
    const auto *b = static_cast<const body *>(p);
    for (long i = first; i < last; ++i)
      b->row(&b->loop, i);
  };
  if (const nth_status s = nth_parallel_for(0, loop.rows(), piece, &b, NTH_SCHEDULE_AUTO, 0); s != NTH_OK)
    fail(nth_strstatus(s));
}

// The program: rows are numbered from 0.
template <class Loop>
int run_all(int argc, char **argv, void (*part)(Loop *, long p, long parts), void (*row)(Loop *, long i)) {
  workload<Loop> w(nth_competitor());
  nth_side nth(w);
  const auto &o = w.parse(argc, argv);
  Loop loop(o.n);

  nth.start(o.workers);
  const auto run = [&](const char *variant, auto master) {
    auto r = measure(w, loop, variant, [&] { return timed_in_nth(master); });
    nth.counts(r);
    w.report(r);
  };
  run("equal", [&] { equal(loop, part); });
  run("natural", [&] { natural(loop, row); });
  run("batch", [&] { batch(loop, row); });
  run("parallel_for", [&] { parallel_for(loop, row); });
  nth.stop();
  return 0;
}

} // namespace bench::livermore

#endif
