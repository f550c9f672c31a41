// The ready queue's owner side: pushing, popping, closing blocks. Every function here is called with the
// private part of `w` entered (worker.hpp), but for those marked otherwise.
#pragma once

#include "thread/worker.hpp"

namespace nth::detail {

// ---- slow paths (ready.cpp) ----
void push_front_slow(worker *w, nth_desc *d) noexcept;
void push_back_slow(worker *w, nth_desc *d) noexcept;
bool room_in_front(worker *w) noexcept; // a full front window makes way for a fresh one; false: no memory
bool room_in_back(worker *w) noexcept;
nth_desc *pop_slow(worker *w) noexcept;
void push_outgoing(worker *w, int to, nth_desc *d, queue_end end) noexcept;
void flush_outgoing(worker *w) noexcept;
void accept_inbox(worker *w) noexcept;
// A block that holds members [lo, hi) joins this worker's queue at the end that it names.
void accept_block(worker *w, block *b) noexcept;
bool push_ring(worker *w, block_ring<block> &ring, block *b) noexcept; // false: no memory to grow it
void turn_back_window(worker *w) noexcept;   // the back window becomes the front window, newest first
bool any_ready(const worker *w) noexcept;    // in the private part
long ready_blocks(const worker *w) noexcept; // closed blocks that wait, about

// While the owner of w has blocks of v's inbox in hand, they are counted in w->taking (backlog.cpp). Set before
// they leave the inbox, and taken back when they have got where they are counted again.
class taking_scope {
public:
  taking_scope(worker *w, const worker *v) noexcept : place(w->taking) {
    const block *youngest = v->inbox.load(std::memory_order_acquire);
    place.store(youngest == nullptr ? 0 : __atomic_load_n(&youngest->depth, __ATOMIC_RELAXED),
                std::memory_order_release);
  }
  ~taking_scope() { place.store(0, std::memory_order_release); }
  taking_scope(const taking_scope &) = delete;
  taking_scope &operator=(const taking_scope &) = delete;

private:
  std::atomic<std::uint32_t> &place;
};

// ---- blocks ----
block *take_block(worker *w) noexcept; // empty; nullptr: no memory [owner, no bracket needed]
void give_block(worker *w, block *b) noexcept;
void send_blocks(worker *w) noexcept; // those of other nodes; called when a worker goes idle

// ---- arrivals: any kernel thread, no bracket ----
void send_chain(worker *to, block *youngest, block *oldest, std::uint32_t count) noexcept; // linked; one CAS
inline void send_block(worker *to, block *b) noexcept { send_chain(to, b, b, 1); }
void wake_after_send(worker *to) noexcept; // a sleeper, if no one is looking for work
void wake_one(worker *prefer) noexcept;

inline void push_front(worker *w, nth_desc *d) noexcept {
  window &f = w->own.front;
  if (f.lo == 0) [[unlikely]]
    return push_front_slow(w, d);
  f.b->slot[--f.lo] = d;
}

// n of them, the first one in front.
inline void push_front_all(worker *w, nth_desc *const *list, long n) noexcept {
  window &f = w->own.front;
  if (n <= static_cast<long>(f.lo)) {
    f.lo -= static_cast<std::uint32_t>(n);
    for (std::uint32_t i = f.lo; n > 0; --n)
      f.b->slot[i++] = *list++;
    return;
  }
  while (n > 0)
    push_front(w, list[--n]);
}

inline void push_back(worker *w, nth_desc *d) noexcept {
  window &b = w->own.back;
  if (b.hi == block_size || b.b == nullptr) [[unlikely]]
    return push_back_slow(w, d);
  b.b->slot[b.hi++] = d;
}

// The next thread to run; nullptr: none is ready here.
inline nth_desc *pop(worker *w) noexcept {
  window &f = w->own.front;
  if (f.empty() || --w->tick == 0) [[unlikely]]
    return pop_slow(w);
  // Slots outside the window hold stale pointers: harmless to prefetch, and inside the block.
  __builtin_prefetch(f.b->slot[(f.lo + prefetch_distance) % block_size], 1);
  return f.b->slot[f.lo++];
}

// ---- Ends of threads, and what they make ready (ends.cpp) ----

// `s` has no dependencies left: it is enqueued at `end` of w's queue. w may be null if s stands for a kernel
// thread.
void make_ready(worker *w, nth_desc *s, queue_end end) noexcept;
void post_ended(worker *w) noexcept; // posts the count of ended threads
// Lowers s's count by n in one step and makes it ready at zero.
void lower(worker *w, nth_desc *s, std::uint32_t n) noexcept;
// One predecessor of s has ended here. Not posted yet: one shared count that two cores write costs more
// than all else of an empty thread. The look at the count is a load that hits until another worker posts.
inline void count_ended(worker *w, nth_desc *s) noexcept {
  private_part &p = w->own;
  if (p.ended_of != s) [[unlikely]] {
    post_ended(w);
    p.ended_of = s;
    p.ended_count = 0;
  }
  const std::uint32_t n = p.ended_count + 1;
  p.ended_count = n;
  if (dependencies(s) <= n) [[unlikely]]
    post_ended(w);
}

// One predecessor of each of n threads has ended here. Those that get ready by it join the queue as one batch, the
// first one first. The array is written over.
void end_all(worker *w, nth_desc **list, long n) noexcept;

// The same, when s would run next: true if s was blocked, is ready now, and is the caller's to run.
bool count_ended_and_claim_slow(worker *w, nth_desc *s) noexcept;
inline bool count_ended_and_claim(worker *w, nth_desc *s) noexcept {
  private_part &p = w->own;
  const std::uint32_t n = p.ended_count + 1;
  if (p.ended_of != s || dependencies(s) <= n) [[unlikely]]
    return count_ended_and_claim_slow(w, s);
  p.ended_count = n;
  return false;
}

// ---- Searching (steal.cpp, idle.cpp): private part not entered ----

// A thread to run, sooner or later; nullptr when the run ends.
nth_desc *next_or_idle(worker *w) noexcept;
bool steal(worker *w, worker *victim) noexcept; // from rings and inbox; true: w's queue has got work
bool steal_private(worker *w, worker *victim, std::uint64_t patience_ns) noexcept;
enum class look { nothing, took, unsure };
bool ask(worker *w, worker *victim) noexcept;       // false: another thief does
void withdraw(worker *w, worker *victim) noexcept;  // w's ask, if it was not answered
look look_into(worker *w, worker *victim) noexcept; // w has asked victim and passed a barrier

} // namespace nth::detail
