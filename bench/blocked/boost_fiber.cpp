#include "blocked/workload.hpp"
#include "common/fiber_side.hpp"

namespace {

struct gate {
  bench::fibers::mutex lock;
  bench::fibers::condition_variable opened;
  bool open = false;
};

} // namespace

int main(int argc, char **argv) {
  bench::blocked::workload w("boost-fiber", 20'000);
  const auto &o = w.parse(argc, argv);
  bench::fiber_side run(o.workers);
  bench::fiber_stacks stacks;

  w.report(w.measure(o.n, [&](long n, bench::blocked::watch &watch) {
    gate g;
    bench::fiber_countdown to_block(n), to_end(n);
    watch.begin();
    for (long i = 0; i < n; ++i)
      bench::fibers::fiber(bench::fibers::launch::post, std::allocator_arg, stacks, [&] {
        {
          std::unique_lock hold(g.lock);
          to_block.arrive();
          g.opened.wait(hold, [&] { return g.open; });
        }
        to_end.arrive();
      }).detach();
    to_block.wait();
    watch.all_blocked();
    {
      std::unique_lock hold(g.lock);
      g.open = true;
    }
    g.opened.notify_all();
    to_end.wait();
    watch.all_ended();
  }));
}
