/* Counts the threads of figure 4 and checks their number when the process ends. Links with figure4.c,
 * figure4_cpp.cpp or figure4_return.c, and with libnth-main. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "figure4.h"

static long count;

void figure4_work(long first, long second) {
  if (first == Arg1 && second == Arg2)
    __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
}

void figure4_check(void) {
  const long seen = __atomic_load_n(&count, __ATOMIC_RELAXED);
  if (seen == NumOfThreads)
    return;
  fprintf(stderr, "figure 4: %ld of %ld threads ran with their arguments\n", seen, NumOfThreads);
  _exit(1);
}

__attribute__((constructor)) static void check_at_exit(void) {
  if (atexit(figure4_check) != 0)
    abort();
}
