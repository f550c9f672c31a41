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

  // master() in a nano-thread; what it returns.
  template <class Master>
  double run(Master master) const {
    struct call {
      Master *master;
      double ns;
    } one{&master, 0};
    void (*const root)(call *) = [](call *c) { c->ns = (*c->master)(); };
    if (const nth_status s = nth_run(root, 1, &one); s != NTH_OK)
      fail(std::string("nth_run: ") + nth_strstatus(s));
    return one.ns;
  }

private:
  std::string policy = "dsr";
  long stack_size = 0; // 0: the library's default
  long backlog = -1;   // -1: the library's default
};

} // namespace bench

#endif
