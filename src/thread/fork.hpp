// Fork-join, the side of the worker. Records of spawned calls lie in the frames of their parents and are linked
// from the oldest to the youngest:
//
//   none ->  …  -> bottom -> private … private -> top
//            shared          ^ thieves            ^ the owner spawns and syncs here
//
// A private record is the owner's, who needs no locked instruction and no fence for it. A shared one has become a
// thread; who waits for it, and whether it has ended, is in its `state`. The list belongs to the thread that runs:
// before it is suspended, all of its private records become threads, so a worker has one list, empty whenever it
// is in its loop. Which steps exclude which: doc/fork-join.md, guarded by test/schedule/fork_model_test.cpp.
#pragma once

#include "nth/spawn.h"
#include "thread/worker.hpp"

namespace nth::detail {

// nth_spawn_record::state, or the descriptor of the thread that waits for the call to end.
constexpr unsigned long spawn_private = 0;
constexpr unsigned long spawn_shared = 1;
constexpr unsigned long spawn_done = 2;
constexpr unsigned long spawn_outside = 3; // by a kernel thread that is no worker: nobody else will have it
constexpr unsigned long spawn_synced = 4;  // set where it costs nothing, to tell a second sync

inline unsigned long state_of(const nth_spawn_record *r) noexcept {
  return __atomic_load_n(&r->state, __ATOMIC_ACQUIRE);
}

// Private records; for the owner, or with the private part locked.
inline bool any_spawned(const worker *w) noexcept {
  return __atomic_load_n(&w->fork.top, __ATOMIC_ACQUIRE) !=
         __atomic_load_n(&w->fork.bottom, __ATOMIC_RELAXED);
}
// Records of any kind are linked: what must not be so when another thread runs.
inline bool linked_spawned(const worker *w) noexcept { return w->fork.top != &w->fork.none; }

// Each of these with the private part entered, or locked by a thief.

enum class share_of {
  half,     // a loop's upper half, at least one index
  keep_one, // the same, but one index stays with the owner, who is about to claim it
  all       // all that has not begun
};
// The oldest private record, or a share of it if it is a loop, as a thread; `w` provides the descriptor. Null: there
// is none, or no memory.
nth_desc *offer_spawned(worker *w, worker *of, share_of how = share_of::half) noexcept;
// All private records become threads of w's own queue, the youngest in front. False: no memory for all.
bool share_all_spawned(worker *w) noexcept;
bool is_private(const worker *w, const nth_spawn_record *r) noexcept; // and linked
void unlink_private(worker *w, nth_spawn_record *r) noexcept;         // wherever it is in the list
void unlink_shared(worker *w, nth_spawn_record *r) noexcept;
// r, which is nobody's any more, as a thread; nullptr: no memory.
nth_desc *make_shared(worker *w, nth_spawn_record *r) noexcept;
// Whether d is what r has become.
bool is_shared_call(const nth_desc *d, const nth_spawn_record *r) noexcept;

// Not entered:

// Answers who wants something, if anyone does.
void answer_and_share() noexcept;
inline void look_around() noexcept {
  if (current_worker()->request.load(std::memory_order_acquire) != 0) [[unlikely]]
    answer_and_share();
}
void reset_spawned(worker *w) noexcept; // the list is empty from now on
// A shared call has ended: whoever waits for it goes on.
void finish_spawned(nth_spawn_record *r) noexcept;
// The thread that has been suspended to wait for a record is told of there; called on the next stack.
void publish_waiter(worker *w) noexcept;
// Suspends the caller until the shared call has ended.
void wait_spawned(nth_spawn_record *r) noexcept;
// Thread d has ended, or a call of loop r has returned, and left records behind.
void report_forgotten(worker *w, const nth_desc *d) noexcept;
void report_forgotten_in_loop(worker *w, nth_spawn_record *r) noexcept;

// ---- Loops: many calls as one record (range.cpp) ----

// Such a record has no function.
inline bool is_range(const nth_spawn_record *r) noexcept { return r->function == nullptr; }
// What of a loop may be given away. Read once: its owner may be at a claim.
struct range_offer {
  bool any;   // [lo, hi) may; the bounds say nothing where the loop has a counter
  bool spent; // nothing more is left to give then
  long lo;
  long hi;
};
range_offer offer_range(const nth_spawn_record *r, share_of how) noexcept;
void share_range(nth_spawn_record *r, nth_desc *d, const range_offer &o) noexcept; // as thread d

} // namespace nth::detail
