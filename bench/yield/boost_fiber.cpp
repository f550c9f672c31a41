#include "common/fiber_side.hpp"
#include "yield/workload.hpp"

#include <vector>

using bench::yielding::sites;

int main(int argc, char **argv) {
  bench::program p(bench::yielding::name, "boost-fiber", bench::yielding::default_n);
  const auto &o = p.parse(argc, argv);
  bench::fiber_side run(o.workers);

  const auto one = [&](const char *variant, sites s) {
    p.report(bench::yielding::measure(p, o, variant, s, [&](sites which, long each) {
      const double begin = bench::now_ns();
      std::vector<bench::fibers::fiber> all;
      for (long id = 0; id < bench::yielding::threads(o); ++id)
        all.emplace_back(bench::fibers::launch::post, [which, id, each] {
          bench::yielding::loop(which, id, each, [] { boost::this_fiber::yield(); });
        });
      for (auto &f : all)
        f.join();
      return bench::now_ns() - begin;
    }));
  };
  one("one call site", sites::one);
  one("two call sites", sites::two);
  one("eight depths", sites::eight_depths);
}
