#include "common/ping.hpp"

#include "common/harness.hpp"

#include <atomic>
#include <thread>
#include <vector>

#include <sched.h>

namespace bench {

namespace {

constexpr int trips_a_block = 500;
constexpr int blocks = 24;
constexpr double enough_ns = 20e6;

void pin_to(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  sched_setaffinity(0, sizeof set, &set);
}

inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// A line of its own: nothing else may pull it away.
struct alignas(128) ball {
  std::atomic<int> turn{0};
};

} // namespace

double one_way_ping(int core_a, int core_b) {
  ball b;
  std::vector<double> found;

  std::thread far([&] {
    pin_to(core_b);
    for (;;) {
      const int turn = b.turn.load(std::memory_order_acquire);
      if (turn < 0)
        return;
      if (turn == 1)
        b.turn.store(0, std::memory_order_release);
      else
        pause();
    }
  });
  std::thread near([&] {
    pin_to(core_a);
    const double begin = now_ns();
    // Blocks and their median, because a competitor's idle workers may still spin on these cores and
    // take them away for a time slice.
    for (int i = 0; i < blocks && now_ns() - begin < enough_ns; ++i) {
      const double from = now_ns();
      for (int k = 0; k < trips_a_block; ++k) {
        b.turn.store(1, std::memory_order_release);
        while (b.turn.load(std::memory_order_acquire) != 0)
          pause();
      }
      found.push_back((now_ns() - from) / (2.0 * trips_a_block));
    }
    b.turn.store(-1, std::memory_order_release);
  });
  near.join();
  far.join();
  return median(std::move(found));
}

} // namespace bench
