/* Paper 003, figure 4, as printed there, with libnth-main: nth_main is the program's entry. */
#include <nth/nth.h>

#include <stdio.h>
#include <stdlib.h>

#define NumOfThreads 1000L
#define Arg1 1L
#define Arg2 2L

extern int nth_argc;
extern char **nth_argv;

static long calls;

void nth_func(long a, long b) { __atomic_fetch_add(&calls, a + b, __ATOMIC_RELAXED); }

void nth_main() {
  long i;
  struct nth_desc *nth, *nth_myself = nth_self();

  nth_depadd(nth_myself, NumOfThreads + 1);
  for (i = 0; i < NumOfThreads; i++) {
    nth = nth_create_ls(nth_func, 0, nth_myself, 2, Arg1, Arg2);
    nth_to_lrq(i % kthreads, nth);
  }
  nth_block();

  printf("figure4.c: %ld\n", calls);
  if (calls != 3 * NumOfThreads || nth_argc != 1 || nth_argv[0] == NULL)
    exit(1);
}
