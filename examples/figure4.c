/* The simplest way to make parallelism (Venetis, Papatheodorou, Gao: "Handling Massive Parallelism
 * Efficiently", 2006, figure 4): a loop makes threads, all of which have the caller as successor, and waits.
 * The program has no main: libnth-main starts the run-time and runs nth_main as its first thread.
 *
 *   cc figure4.c -lnth-main -lnth -o figure4 && NTH_WORKERS=2 ./figure4
 */
#include <stdio.h>

#include "nth/nth.h"

#define NumOfThreads 1000000L

static long sum;

static void nth_func(long first, long second) { __atomic_fetch_add(&sum, first * second, __ATOMIC_RELAXED); }

void nth_main() {
  struct nth_desc *nth, *nth_myself = nth_self();

  /* One dependency for each thread, and one that nth_block gives up. */
  nth_depadd(nth_myself, NumOfThreads + 1);
  for (long i = 0; i < NumOfThreads; i++) {
    nth = nth_create_ls(nth_func, 0, nth_myself, 2, i, 2L);
    nth_to_lrq((int)(i % kthreads), nth);
  }
  nth_block();

  printf("%ld threads on %d workers: sum %ld, expected %ld\n", NumOfThreads, kthreads, sum,
         NumOfThreads * (NumOfThreads - 1));
}
