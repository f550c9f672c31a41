/* The three parallel programs of table 2 of "Heaps o' Stacks" (paper 002), written for nano-threads: what each of
 * sor.c, mp3d.c and ocean.c gives to main.c. All are C, and allocate nothing once their threads run. */
#ifndef NTH_BENCH_HEAPS_H
#define NTH_BENCH_HEAPS_H

#include <stddef.h>

#include <nth/nth.h>

struct heaps_order {
  long threads; /* nano-threads that share the work, >= 1 */
  long size;    /* sor, ocean: intervals of a side; mp3d: particles */
  long steps;
  int provoke; /* plant a mistake in the data that the threads will find and report */
};

extern const char heaps_name[];
extern const struct heaps_order heaps_default;              /* with the paper's size of data */
const char *heaps_refusal(const struct heaps_order *order); /* what is wrong with it; NULL: nothing */

/* The data, in the state before the first step, all of it touched. Ends the program where memory is missing. */
void *heaps_prepare(const struct heaps_order *order);
/* The root of each thread: its share of all steps, 0 <= me < threads. With one thread it may be called outside of
 * nano-threads too, which is the sequential run. */
void heaps_thread(void *state, long me);
/* After the run; `alone`: of the sequential run. NULL, or what is wrong with the result. */
const char *heaps_wrong(void *state, void *alone);
long heaps_switches(void *state);    /* times that a thread was suspended */
long heaps_bytes(const void *state); /* of data that the steps use */
void heaps_free(void *state);

/* Share `me` of `threads` of the numbers first … last - 1. */
struct heaps_share {
  long first, last;
};
static inline struct heaps_share heaps_share_of(long first, long last, long me, long threads) {
  const struct heaps_share s = {first + (last - first) * me / threads,
                                first + (last - first) * (me + 1) / threads};
  return s;
}

void *heaps_memory(size_t count, size_t bytes); /* calloc, that ends the program where there is none */

/* splitmix64: the same numbers on each machine. */
static inline uint64_t heaps_random(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15U;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
  z = (z ^ z >> 27) * 0x94d049bb133111ebU;
  return z ^ z >> 31;
}
static inline double heaps_unit(uint64_t *state) { return (double)(heaps_random(state) >> 11) * 0x1p-53; }

#endif
