#include "blocked/workload.hpp"
#include "common/kernel_side.hpp"

#include <condition_variable>
#include <mutex>

namespace {

struct gate {
  std::mutex lock;
  std::condition_variable opened, full;
  long to_block = 0;
  bool open = false;
};

void *blocker(void *argument) {
  auto &g = *static_cast<gate *>(argument);
  std::unique_lock hold(g.lock);
  if (--g.to_block == 0)
    g.full.notify_one();
  g.opened.wait(hold, [&] { return g.open; });
  return nullptr;
}

} // namespace

int main(int argc, char **argv) {
  bench::blocked::workload w("kernel", 2000);
  const auto &o = w.parse(argc, argv);
  const bench::kernel_attributes attributes;

  w.report(w.measure(o.n, [&](long n, bench::blocked::watch &watch) {
    gate g;
    g.to_block = n;
    std::vector<pthread_t> threads(static_cast<std::size_t>(n));
    watch.begin();
    for (auto &t : threads)
      t = attributes.create(blocker, &g);
    {
      std::unique_lock hold(g.lock);
      g.full.wait(hold, [&] { return g.to_block == 0; });
    }
    watch.all_blocked();
    {
      std::unique_lock hold(g.lock);
      g.open = true;
    }
    g.opened.notify_all();
    for (const pthread_t t : threads)
      pthread_join(t, nullptr);
    watch.all_ended();
  }));
}
