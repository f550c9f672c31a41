#include "barrier.h"

#include <stdlib.h>

void heaps_barrier_init(struct heaps_barrier *b, long threads) {
  b->threads = threads;
  atomic_init(&b->arrived, 0);
  atomic_init(&b->waits, 0);
  b->handles = heaps_memory((size_t)threads, sizeof b->handles[0]);
}

void heaps_barrier_free(struct heaps_barrier *b) { free(b->handles); }

void heaps_barrier_enter(struct heaps_barrier *b, long me) { b->handles[me] = nth_handle(nth_self()); }

void heaps_barrier_wait(struct heaps_barrier *b, long me) {
  /* acq_rel: the last one has seen what all wrote before, their handles too. */
  if (atomic_fetch_add_explicit(&b->arrived, 1, memory_order_acq_rel) != b->threads - 1) {
    /* Waits for one nth_unblock. That one may come first: it is remembered. No second one can come before this
     * thread has arrived again. */
    atomic_fetch_add_explicit(&b->waits, 1, memory_order_relaxed);
    nth_block();
    return;
  }
  /* Before the first is let go: it may arrive at the next round while others are still to be woken. */
  atomic_store_explicit(&b->arrived, 0, memory_order_relaxed);
  for (long i = 0; i < b->threads; i++)
    if (i != me && nth_unblock(b->handles[i]) != NTH_OK)
      abort(); /* a thread has ended that the others wait for: a mistake in the program */
}
