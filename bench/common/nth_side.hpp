// Start-up and counters of nth, the same for each workload.
#ifndef NTH_BENCH_NTH_SIDE_HPP
#define NTH_BENCH_NTH_SIDE_HPP

#include "common/harness.hpp"

#include <string>

#include <nth/nth.h>

namespace bench {

// "nth" or "nth-shared": the programs are built from one source against either library.
const char *nth_competitor();

class nth_side {
public:
  explicit nth_side(program &p); // adds --policy, --stack-size, --backlog

  void start(long workers); // one nth_init a process; ends the program when it fails
  void stop();
  void counts(result &r) const; // to be called while it is up

private:
  std::string policy = "dsr";
  long stack_size = 0; // 0: the library's default
  long backlog = -1;   // -1: the library's default
};

} // namespace bench

#endif
