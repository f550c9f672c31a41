// The run-time as a whole: its workers, what they share, and how it starts and ends.
#pragma once

#include "base/spinlock.hpp"
#include "thread/worker.hpp"

#include <atomic>
#include <pthread.h>

namespace nth::detail {

// What makes a run one rank of a cluster's (cluster/). Set while the run-time is down.
struct cluster_seat {
  area_seat area{};
  std::uintptr_t iso_base{0}; // reserved there already, iso_bytes of it; 0: not yet
  std::size_t iso_bytes{0};
  std::uintptr_t canary{
      0}; // of stack protectors, rank 0's: frames on stacks of the area have it. 0: each its own
  // Looks for messages; true: there were some. Any worker calls it, on any stack, with its private part left. errno
  // stays. Null: one rank alone.
  bool (*progress)() noexcept {nullptr};
  std::uint64_t poll_ns{0}; // an idle rank's longest pause between two looks
  // Ranks that share this one's processors: its workers have the places from `first_place` on, and together there
  // are more workers than processors.
  int first_place{0};
  bool crowded{false};
};

struct runtime {
  cluster_seat seat{};
  int workers{0};
  worker *worker_memory{nullptr}; // [workers + 1]; the last serves kernel threads that are no workers
  int *worker_of_home{nullptr};   // [the_area.homes]
  std::size_t memory_bytes{0};
  nth_policy policy{NTH_POLICY_DSR};
  unsigned stack_log2{16};
  std::uint64_t backlog_blocks{0}; // 0: no bound
  std::uint64_t spin_ns{0};
  bool report_deadlock{false};
  bool bind{false};
  bool crowded{false}; // more workers than cores: one that searches takes time from one that works
  bool print_stats{false};
  unsigned strict{0}; // NTH_STACK_STRICT
  std::size_t stack_most{0};
  int nodes_unbound{0}; // NUMA nodes to which memory could not be bound
  std::atomic<bool> up{false};

  // Idle workers. A worker is searching (spins, looks everywhere) or asleep or active.
  alignas(64) std::atomic<int> sleepers{0};
  std::atomic<int> searching{0};
  std::atomic<bool> stopping{false};
  std::atomic<std::uint64_t> polled_at{0}; // ticks at which a busy worker did
  std::atomic<int> poller{-1}; // the sleeping worker that wakes up now and then to look for messages

  // Guards the last worker, the one of the foreign kernel threads.
  alignas(64) pthread_mutex_t outside_lock = PTHREAD_MUTEX_INITIALIZER;

  worker *at(int id) noexcept { return worker_memory + id; }
  worker *outside() noexcept { return worker_memory + workers; }
  worker *of_home(int home) noexcept { return worker_memory + worker_of_home[home]; }
};

extern runtime the_runtime;

nth_status start_runtime(const nth_options &options) noexcept;
nth_status stop_runtime() noexcept;
// Gives threads that are about to end a while. How many are alive then.
long wait_for_last_threads() noexcept;

// Of a busy worker, between two threads: in a cluster run, when it is due. The private part is entered, and left for it.
void look_for_messages(worker *w) noexcept;

// Calls visit(descriptor) for each one that is not free; see nth_report_blocked.
using visit_desc = void (*)(nth_desc *d, void *context) noexcept;
void for_each_live(visit_desc visit, void *context) noexcept;
void for_each_desc(visit_desc visit, void *context) noexcept; // free ones, and spill blocks, too

} // namespace nth::detail
