/* A barrier whose threads block: all but the last one to arrive are suspended, and let go by that one. */
#ifndef NTH_BENCH_HEAPS_BARRIER_H
#define NTH_BENCH_HEAPS_BARRIER_H

#include <stdatomic.h>

#include "heaps.h"

struct heaps_barrier {
  long threads;
  atomic_long arrived;
  atomic_long waits;     /* arrivals that had to wait, of all rounds */
  nth_handle_t *handles; /* each written by its thread before it first arrives */
};

void heaps_barrier_init(struct heaps_barrier *b, long threads);
void heaps_barrier_free(struct heaps_barrier *b);
void heaps_barrier_enter(struct heaps_barrier *b, long me); /* once, as the thread's first act */
void heaps_barrier_wait(struct heaps_barrier *b, long me);

#endif
