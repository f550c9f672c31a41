#include "common/kernel_side.hpp"
#include "empty/workload.hpp"

#include <vector>

int main(int argc, char **argv) {
  // Few, in windows: a million at once meet the limits of any kernel.
  bench::empty::workload w("kernel", 2000);
  w.window = 250;
  const auto &o = w.parse(argc, argv);
  const bench::kernel_attributes attributes;
  const auto root = [](void *) -> void * {
    empty_root_shared(0, 0);
    return nullptr;
  };

  w.report(bench::empty::measure(w, o.n, [&](long n, long window) {
    return bench::empty::timed(n, window, [&](long count) {
      std::vector<pthread_t> threads;
      for (long i = 0; i < count; ++i)
        threads.push_back(attributes.create(root, nullptr));
      for (const pthread_t t : threads)
        pthread_join(t, nullptr);
    });
  }));
}
