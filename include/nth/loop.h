/* Many threads of one function: they share one argument and one count, and none has a descriptor before it
 * blocks or another worker takes a share of them. */
#ifndef NTH_LOOP_H
#define NTH_LOOP_H

#include "nth/nth.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makes n threads function(0, shared) … function(n - 1, shared), ready to run, in any order. When all have ended,
 * the count of dependencies of `successor` (may be NULL) falls by one. Each of them may block.
 * Threads of one loop that run one after another on a worker use the same descriptor: a handle of one of them is
 * good until its function returns, and not told to be late after that; nth_keep_fp and nth_no_suspend_begin last
 * beyond it.
 * Errors: NTH_EINVAL (null function, n < 0), NTH_ENOMEM (nothing was made), NTH_ESTATE. With n == 0 the
 * successor's count falls at once. [any] */
NTH_API NTH_NODISCARD nth_status nth_spawn_n(void (*function)(long index, void *shared), long n, void *shared,
                                             struct nth_desc *successor);

/* How a loop is cut into pieces (paper 003, section 2). */
typedef enum nth_schedule {
  NTH_SCHEDULE_AUTO = 0,   /* pieces that grow until their cost exceeds that of a look at what others want */
  NTH_SCHEDULE_EQUAL = 1,  /* a piece for each worker */
  NTH_SCHEDULE_GUIDED = 2, /* pieces of the rest over workers (Polychronopoulos and Kuck 1987) */
  NTH_SCHEDULE_FACTORING = 3 /* rounds of equal pieces, each of half of the rest (Hummel et al. 1991) */
} nth_schedule;

/* Calls body(first, last, shared) for pieces [first, last) that cover [begin, end), on any of the workers, and
 * returns when all have ended. Pieces have at least `grain` indices, where the range has so many; 0: chosen by
 * itself. The last ones of guided and factoring may be smaller, and NTH_SCHEDULE_EQUAL makes a piece for each
 * worker, whatever the grain.
 * Bodies may block. But between nth_depadd(nth_self(), …) and its nth_block this may be called only if they do not:
 * some of them run as part of the caller's thread, which has one count of dependencies. Outside of nano-threads the
 * caller waits and the workers do it.
 * Errors: NTH_EINVAL (null body, end < begin, grain < 0, end - begin above LONG_MAX, unknown schedule),
 * NTH_ENOMEM, NTH_ESTATE. [any] */
NTH_API NTH_NODISCARD nth_status nth_parallel_for(long begin, long end,
                                                  void (*body)(long first, long last, void *shared),
                                                  void *shared, nth_schedule schedule, long grain);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* NTH_LOOP_H */
