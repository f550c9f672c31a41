// One configuration in a process of its own: the run-time starts once a process, and what is resident
// must be that of one configuration.
#ifndef NTH_BENCH_DEMO_CHILD_HPP
#define NTH_BENCH_DEMO_CHILD_HPP

#include <functional>
#include <string>
#include <vector>

namespace bench::demo {

struct limits {
  double seconds;
  long resident_bytes; // a process that takes more is ended
};

struct outcome {
  std::string output;  // what it printed
  std::string failure; // empty, or why there is no result
  long peak_bytes = 0; // resident, as sampled
};

// Runs `command`; calls `tick` now and then while it waits.
outcome run_child(const std::vector<std::string> &command, const limits &limit,
                  const std::function<void()> &tick);

} // namespace bench::demo

#endif
