#include "common/fiber_side.hpp"
#include "empty/workload.hpp"

int main(int argc, char **argv) {
  // A tenth of the others' number: the stacks of a million waiting fibers take 8 GB.
  bench::empty::workload w("boost-fiber", bench::empty::default_n / 10);
  const auto &o = w.parse(argc, argv);
  bench::fiber_side run(o.workers);
  bench::fiber_stacks stacks;

  w.report(bench::empty::measure(w, o.n, [&](long n, long window) {
    return bench::empty::timed(n, window, [&](long count) {
      bench::fiber_countdown left(count);
      for (long i = 0; i < count; ++i)
        bench::fibers::fiber(bench::fibers::launch::post, std::allocator_arg, stacks, [i, &left] {
          empty_root(i, 0);
          left.arrive();
        }).detach();
      left.wait();
    });
  }));
}
