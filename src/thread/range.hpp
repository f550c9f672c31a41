// Loops: many calls of one function as one record, from which shares are split as they are asked for (Mohr, Kranz
// and Halstead 1991, section 4; the schedules: paper 003, section 2). A share is one thread that makes its
// calls one after the other; when one of them is suspended, what it has not begun becomes another thread.
#pragma once

#include "base/spinlock.hpp"
#include "thread/fork.hpp"

namespace nth::detail {

enum class loop_kind : std::uint8_t {
  indices,  // body(index, shared), one by one
  pieces,   // body(first, last, shared), pieces that grow
  guided,   // pieces from one counter for all
  factoring // the same, in rounds
};

// What all shares of a loop have in common. Of nth_spawn_n it lies in the memory of a descriptor, of
// nth_parallel_for in the caller's frame.
struct loop_work {
  long least; // pieces: no fewer indices in one, where so many are left
  void *shared;
  union {
    nth_desc *successor;      // indices
    nth_spawn_record *joined; // all others: whom the end is told
  };
  std::uint32_t unused_word;
  std::uint16_t unused_half;
  std::uint8_t state; // a thread_state, as in a descriptor
  loop_kind kind;
  unsigned long left; // calls that have not been counted as ended; of those with a counter, shares too
  void (*body)();
  long grain;
  struct counter *claims; // guided, factoring
};

// Where guided and factoring claim from.
struct counter {
  spinlock lock;
  long next;
  long end;
  long round_left; // pieces of this round that are left
  long round_size;
};

// Runs [lo, hi) but for what others take of it; returns what is to be counted. The work may be gone when that is 0.
unsigned long run_share(loop_work *work, long lo, long hi);
// Counts `done` calls as ended; true: they were the last.
bool count_calls(loop_work *work, unsigned long done) noexcept;
// A thread for [lo, hi), not enqueued; nullptr: no memory. Guided and factoring take no bounds.
nth_desc *make_share(worker *w, loop_work *work, long lo, long hi) noexcept;

} // namespace nth::detail
