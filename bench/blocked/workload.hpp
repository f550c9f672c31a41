// blocked: n threads are created, run and block, all at once; what each costs in time and in memory.
// Then all are let go.
#ifndef NTH_BENCH_BLOCKED_WORKLOAD_HPP
#define NTH_BENCH_BLOCKED_WORKLOAD_HPP

#include "common/harness.hpp"

#include <utility>
#include <vector>

namespace bench::blocked {

inline constexpr const char *name = "blocked";

// The stop-watch that a competitor's master carries.
class watch {
public:
  // All but the threads is in memory by now.
  void begin() {
    if (!seen)
      resident = resident_bytes(), tables = page_table_bytes();
    from = now_ns();
  }

  // All threads are blocked. The first time counts for memory: later ones reuse it.
  void all_blocked() {
    block_ns = now_ns() - from;
    if (!std::exchange(seen, true)) {
      resident = resident_bytes() - resident;
      tables = page_table_bytes() - tables;
      maps = mappings();
    }
    from = now_ns();
  }

  void all_ended() { release_ns.push_back(now_ns() - from); }

private:
  friend class workload;
  double from = 0, block_ns = 0;
  std::vector<double> release_ns;
  long resident = 0, tables = 0, maps = 0;
  bool seen = false;
};

class workload : public program {
public:
  workload(const char *competitor, long n) : program(name, competitor, n) { defaults(3, 1); }

  // `body(n, watch)` creates n threads, waits until all are blocked, lets them go and waits for them.
  template <class Body>
  result measure(long n, Body body) const {
    watch w;
    auto r = program::measure("", n, [&] {
      body(n, w);
      return w.block_ns;
    });
    const auto each = [n](auto sum) { return static_cast<double>(sum) / static_cast<double>(n); };
    r.count("resident_bytes_a_thread", each(w.resident));
    r.count("page_table_bytes_a_thread", each(w.tables));
    r.count("mappings", w.maps);
    r.count("release_ns", each(median(w.release_ns)));
    return r;
  }
};

} // namespace bench::blocked

#endif
