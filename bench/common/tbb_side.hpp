// oneTBB confined to a number of workers, each pinned to a core.
#ifndef NTH_BENCH_TBB_SIDE_HPP
#define NTH_BENCH_TBB_SIDE_HPP

#include "common/harness.hpp"

#include <cstddef>

#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <tbb/task_scheduler_observer.h>

namespace bench {

class tbb_side {
public:
  explicit tbb_side(long workers)
      : limit(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(workers)),
        arena(static_cast<int>(workers)), pins(arena) {
    pins.observe(true);
  }

  template <class Master>
  auto run(Master master) {
    return arena.execute(master);
  }

private:
  struct pinning : tbb::task_scheduler_observer {
    explicit pinning(tbb::task_arena &a) : tbb::task_scheduler_observer(a) {}
    void on_scheduler_entry(bool) override { pin_self(tbb::this_task_arena::current_thread_index()); }
    // The master goes back to the harness, which measures the ping elsewhere too.
    void on_scheduler_exit(bool) override { confine_self(static_cast<long>(usable_cores().size())); }
  };

  tbb::global_control limit;
  tbb::task_arena arena;
  pinning pins;
};

} // namespace bench

#endif
