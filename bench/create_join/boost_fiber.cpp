#include "common/fiber_side.hpp"
#include "create_join/workload.hpp"

namespace {

template <class Stacks> void pair(long i, Stacks &stacks) {
  bench::fibers::fiber(bench::fibers::launch::post, std::allocator_arg, stacks, [i] { empty_root(i, 0); }).join();
}

} // namespace

int main(int argc, char **argv) {
  bench::program p(bench::create_join::name, "boost-fiber", bench::create_join::default_n / 5);
  const auto &o = p.parse(argc, argv);
  bench::fiber_side run(o.workers);
  // The pool is not locked, so it serves one worker only; more get theirs from malloc.
  bench::fibers::pooled_fixedsize_stack pooled(bench::fiber_stack_bytes);
  bench::fibers::fixedsize_stack plain(bench::fiber_stack_bytes);

  p.report(bench::create_join::measure(p, o.n, [&](long n) {
    return o.workers == 1 ? bench::create_join::timed(n, [&](long i) { pair(i, pooled); })
                          : bench::create_join::timed(n, [&](long i) { pair(i, plain); });
  }));
}
