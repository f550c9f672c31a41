/* A C99 program against the installed library: a thousand threads add up, the one that made them waits. */
#include <nth/nth.h>

#include <stdio.h>

static long sum; /* of all the threads; each adds by an atomic operation */

static void add(long from, long to) {
  for (long i = from; i < to; i++)
    __atomic_fetch_add(&sum, i, __ATOMIC_RELAXED);
}

static void root(long threads) {
  struct nth_desc *self = nth_self();
  nth_depadd(self, threads + 1);
  for (long i = 0; i < threads; i++)
    nth_to_lrq((int)(i % kthreads), nth_create_ls(add, 0, self, 2, 10 * i, 10 * (i + 1)));
  nth_block();
}

int main(void) {
  if (kthreads != 0 || nth_init(NULL) != NTH_OK)
    return 1;
  /* The variable is the library's own, however the program was linked. */
  if (kthreads < 1 || kthreads != nth_workers())
    return 2;
  if (nth_run(root, 1, 1000L) != NTH_OK || nth_finalize() != NTH_OK)
    return 3;
  printf("sum.c: %ld\n", sum);
  return sum == 10000L * 9999 / 2 ? 0 : 4;
}
