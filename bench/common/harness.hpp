// What every program in bench/ shares: options, repetition, medians, and one JSON object a line.
#ifndef NTH_BENCH_HARNESS_HPP
#define NTH_BENCH_HARNESS_HPP

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <time.h>

namespace bench {

inline double now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

// Every program has these; those of one competitor are added by program::option.
struct settings {
  long workers = 1;
  long n = 0;
  long repeat = 9;
  long warmup = 2;     // repetitions that are run first and not counted; the first of them is cold_ns
  double seconds = 10; // past these no further repetition is begun, once three have been counted
  bool json = false;
};

using value = std::variant<long, double, std::string>;

struct result {
  std::string variant;
  long n = 0;
  double cold = 0;             // ns an operation of the very first repetition; 0: not known
  std::vector<double> samples; // ns an operation, one a counted repetition
  std::vector<double> ping;    // one-way ping of the first two cores, one a counted repetition
  std::vector<std::pair<std::string, value>> counts;

  void count(std::string name, value v) { counts.emplace_back(std::move(name), std::move(v)); }
};

class program {
public:
  program(std::string workload, std::string competitor, long default_n);
  ~program();
  program(const program &) = delete;
  program &operator=(const program &) = delete;

  void option(const std::string &name, long &target, const std::string &help);
  void option(const std::string &name, std::string &target, const std::string &help);

  // For workloads whose repetitions are long.
  void defaults(long repeat, long warmup);

  // Reads the options; `--help` and misuse end the program. Confines the process to as many cores as
  // there are workers, so that no competitor's helper threads get a core that the others do without.
  const settings &parse(int argc, char **argv);

  // `body` does n operations and returns the nanoseconds that they took.
  result measure(const std::string &variant, long n, const std::function<double()> &body) const;

  void report(result r) const;

private:
  struct parts;
  std::unique_ptr<parts> p;
};

// Pins the calling kernel thread to the index-th usable core; indices past the last one start over.
void pin_self(long index);
// Lets the calling kernel thread, and those it creates, run on the first `count` usable cores.
void confine_self(long count);
// Cores that the process might use when it started.
const std::vector<int> &usable_cores();

double median(std::vector<double> values);

long resident_bytes();
long page_table_bytes();
long mappings(); // lines of /proc/self/maps

// Says on stderr what went wrong and ends the program with status 1, at once: its threads may be
// blocked for good, so nothing is torn down.
[[noreturn]] void fail(const std::string &message);

} // namespace bench

#endif
