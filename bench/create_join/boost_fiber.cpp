#include "common/fiber_side.hpp"
#include "create_join/workload.hpp"

int main(int argc, char **argv) {
  bench::program p(bench::create_join::name, "boost-fiber", bench::create_join::default_n / 5);
  const auto &o = p.parse(argc, argv);
  bench::fiber_side run(o.workers);
  bench::fiber_stacks stacks;

  p.report(bench::create_join::measure(p, o.n, [&](long n) {
    return bench::create_join::timed(n, [&](long i) {
      bench::fibers::fiber(bench::fibers::launch::post, std::allocator_arg, stacks, [i] {
        empty_root(i, 0);
      }).join();
    });
  }));
}
