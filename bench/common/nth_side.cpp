#include "common/nth_side.hpp"

#include <cstdlib>

#include <fmt/core.h>

namespace bench {

const char *nth_competitor() {
#ifdef NTH_BENCH_SHARED
  return "nth-shared";
#else
  return "nth";
#endif
}

nth_side::nth_side(program &p) {
  if (const char *set = std::getenv("NTH_STACK_POLICY"))
    policy = set;
  p.option("--policy", policy, "where stacks come from: dsr, lsa or dos");
  p.option("--stack-size", stack_size, "bytes of a stack; 0: the library's default");
  p.option("--backlog", backlog,
           "waiting threads above which a creator makes way; -1: the library's default");
}

void nth_side::start(long workers) {
  nth_options o;
  if (nth_options_init(&o) != NTH_OK)
    fail(fmt::format("environment: {}", nth_last_error()));
  o.workers = workers;
  // One worker a core; where there are more workers than cores the kernel places them.
  o.bind = static_cast<std::size_t>(workers) <= usable_cores().size();
  if (policy == "dsr")
    o.stack_policy = NTH_POLICY_DSR;
  else if (policy == "lsa")
    o.stack_policy = NTH_POLICY_LSA;
  else if (policy == "dos")
    o.stack_policy = NTH_POLICY_DOS;
  else
    fail(fmt::format("--policy: '{}' is none of dsr, lsa, dos", policy));
  if (stack_size > 0)
    o.stack_size = stack_size;
  if (backlog >= 0)
    o.backlog = backlog;
  if (o.backlog == 0) {
    // As the papers have it: whatever waits is allocated, and used again in the next repetition. With the usual
    // bounds on idle memory most of it would go back to the kernel in between.
    constexpr long all = 1L << 24;
    o.descriptors_global = o.stacks_global = all;
  }
  backlog = o.backlog;
  if (const nth_status s = nth_init(&o); s != NTH_OK)
    fail(fmt::format("nth_init: {}: {}", nth_strstatus(s), nth_last_error()));
}

void nth_side::stop() {
  if (const nth_status s = nth_finalize(); s != NTH_OK)
    fail(fmt::format("nth_finalize: {}: {}", nth_strstatus(s), nth_last_error()));
}

void nth_side::counts(result &r) const {
  nth_counters c;
  if (const nth_status s = nth_get_counters(&c); s != NTH_OK)
    fail(fmt::format("nth_get_counters: {}", nth_strstatus(s)));
  r.count("policy", policy);
  r.count("backlog", backlog);
  r.count("stacks", c.stacks);
  r.count("stack_bytes", c.stack_bytes);
  r.count("descriptors", c.descriptors);
  r.count("descriptor_bytes", c.descriptor_bytes);
  r.count("stacks_unguarded", c.stacks_unguarded);
  r.count("committed_bytes", c.committed_bytes);
  r.count("steals", c.steals);
  r.count("sleeps", c.sleeps);
}

} // namespace bench
