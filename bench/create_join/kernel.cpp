#include "common/kernel_side.hpp"
#include "create_join/workload.hpp"

int main(int argc, char **argv) {
  bench::program p(bench::create_join::name, "kernel", 2000);
  const auto &o = p.parse(argc, argv);
  const bench::kernel_attributes attributes;
  const auto root = [](void *) -> void * {
    empty_root_shared(0, 0);
    return nullptr;
  };

  p.report(bench::create_join::measure(p, o.n, [&](long n) {
    return bench::create_join::timed(n,
                                     [&](long) { pthread_join(attributes.create(root, nullptr), nullptr); });
  }));
}
