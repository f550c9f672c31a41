// Batches of threads (paper 003, section 4): descriptors linked by `next` from their making until they are enqueued,
//
//   first -> . -> . -> last -> null       created, or `member` before they are initialised
//
// and what puts them into a queue as one: one bracket, one look at the bounds of a window, one CAS.
#pragma once

#include "thread/ready.hpp"

namespace nth::detail {

// The n threads from `first` on go to the slots [to, to + n), in state ready_fresh. They must be all that is behind
// `first`, `last` being the last, all created, without dependencies and flags. False: they are not; nothing was
// changed but the slots.
inline bool write_plain(nth_desc **to, nth_desc *first, const nth_desc *last, long n) noexcept {
  constexpr unsigned created = static_cast<unsigned>(thread_state::created);
  nth_desc **const begin = to;
  nth_desc **const end = to + n;
  nth_desc *d = first;
  do {
    if (d == nullptr || state_and_flags(d) != created || __atomic_load_n(&d->ndep, __ATOMIC_RELAXED) != 0)
        [[unlikely]]
      break;
    set_state_and_flags(d, static_cast<unsigned>(thread_state::ready_fresh));
    *to++ = d;
    d = d->next;
  } while (to != end);
  if (to == end && end[-1] == last && d == nullptr) [[likely]]
    return true;
  while (to != begin)
    set_state_and_flags(*--to, created);
  return false;
}

// A batch of n joins w's queue at an end, or travels to worker `to` (private part entered), or, from a kernel thread
// that is no worker, travels there in blocks that must be had first. Members are created, without dependencies;
// their links are used up. put_batch: true where the bound on waiting threads was met.
// The same for what is most: n members that write_plain takes, into a window, here or for worker `to`, that has room
// or can be made to have. none: nothing was done; over: see put_batch.
enum class put_result { none, done, over };
template <queue_end End>
put_result put_plain_batch(worker *w, int to, nth_desc *first, const nth_desc *last, long n) noexcept;
template <queue_end End>
bool put_batch(worker *w, nth_desc *first) noexcept;
template <queue_end End>
void send_batch(worker *w, int to, nth_desc *first) noexcept;
bool send_batch_outside(int to, nth_desc *first, long n,
                        queue_end end) noexcept; // false: no memory, nothing was done

} // namespace nth::detail
