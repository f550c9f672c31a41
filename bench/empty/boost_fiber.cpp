#include "common/fiber_side.hpp"
#include "empty/workload.hpp"

namespace {

// The pool is not locked, so it serves one worker only; more get theirs from malloc.
template <class Stacks> void wave(long count, Stacks &stacks) {
  bench::fiber_countdown left(count);
  for (long i = 0; i < count; ++i)
    bench::fibers::fiber(bench::fibers::launch::post, std::allocator_arg, stacks, [i, &left] {
      empty_root(i, 0);
      left.arrive();
    }).detach();
  left.wait();
}

} // namespace

int main(int argc, char **argv) {
  // A tenth of the others' number: the stacks of a million waiting fibers take 8 GB.
  bench::empty::workload w("boost-fiber", bench::empty::default_n / 10);
  const auto &o = w.parse(argc, argv);
  bench::fiber_side run(o.workers);
  bench::fibers::pooled_fixedsize_stack pooled(bench::fiber_stack_bytes);
  bench::fibers::fixedsize_stack plain(bench::fiber_stack_bytes);

  w.report(bench::empty::measure(w, o.n, [&](long n, long window) {
    return bench::empty::timed(n, window, [&](long count) {
      if (o.workers == 1)
        wave(count, pooled);
      else
        wave(count, plain);
    });
  }));
}
