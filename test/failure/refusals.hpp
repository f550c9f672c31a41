// What the tests of refused system calls share.
#pragma once

#include "memory/area.hpp"
#include "memory/block.hpp"
#include "os/os_failing.hpp"

#include "../support/reports.hpp"
#include "../support/runtime.hpp"

#include <atomic>
#include <cstdio>
#include <cstring>
#include <string>

namespace nth::test {

using detail::os::fail_kind;

struct kind_of_call {
  const char *name;
  fail_kind kind;
};
constexpr kind_of_call all_kinds[] = {{"reserve", fail_kind::reserve},
                                      {"commit", fail_kind::commit},
                                      {"guard", fail_kind::guard},
                                      {"thread_start", fail_kind::thread_start},
                                      {"map_pages", fail_kind::map_pages}};

// Calls of a kind fail as planned for as long as it lives.
class refusal {
public:
  refusal(fail_kind kind, long calls, bool sticky) { detail::os::fail_after(kind, calls, sticky); }
  ~refusal() { detail::os::fail_never(); }
  refusal(const refusal &) = delete;
  refusal &operator=(const refusal &) = delete;
};

// From now on nothing is committed.
inline void refuse_commits() { detail::os::fail_after(fail_kind::commit, 1, true); }

// Takes what is committed in a region and not in use, so that the next object of it needs a commit. A part
// from which nothing was taken yet has nothing to take.
inline void use_up(detail::region r, std::size_t object_size) {
  refuse_commits();
  for (int home = 0; home < detail::the_area.homes; ++home) {
    for (;;) {
      std::size_t count = 1024;
      if (detail::the_area.at(r, home).carve(object_size, count) == nullptr)
        break;
    }
  }
  detail::os::fail_never();
}
inline void use_up_blocks() { use_up(detail::region::blocks, sizeof(detail::block)); }

// Tests under each policy, none of which leaves a refusal behind.
class refused_memory : public testing::TestWithParam<nth_policy> {
protected:
  void SetUp() override { detail::os::fail_never(); }
  void TearDown() override { detail::os::fail_never(); }
  // Parts of a few MiB, committed as a whole.
  static nth_options small(long workers) {
    nth_options result = options(workers, GetParam());
    result.area_size = 1L << 30;
    return result;
  }
  const watchdog guard{60};
};

// A line of /proc/self/status, in its unit (kB).
inline long status_line(const char *name) {
  std::FILE *file = std::fopen("/proc/self/status", "r");
  char line[256];
  long result = -1;
  while (result < 0 && std::fgets(line, sizeof line, file) != nullptr)
    if (std::strncmp(line, name, std::strlen(name)) == 0)
      std::sscanf(line + std::strlen(name), ": %ld", &result);
  std::fclose(file);
  return result;
}

// A run that is long enough to be believed; each thread costs ThreadSanitizer what its start costs.
constexpr long right_run = under_tsan ? 1000 : 10'000;

// `count` threads that a thread makes and waits for; each runs once.
inline void expect_right_run(long count) {
  std::atomic<long> ended = 0;
  run([&] {
    auto one = [&ended] { ended.fetch_add(1, std::memory_order_relaxed); };
    nth_depadd(nth_self(), count + 1);
    for (long i = 0; i < count; ++i)
      nth_to_lrq(static_cast<int>(i % kthreads), create(one, nth_self()));
    nth_block();
  });
  EXPECT_EQ(ended, count);
}

// Threads that have said that they were woken may not have ended yet.
inline void wait_for_ends() {
  spin_until([] {
    const nth_counters c = counters();
    return c.descriptors == c.descriptors_free;
  });
}

} // namespace nth::test
