/* Fork and join: each thread makes one for each half of its problem and waits for both.
 *
 *   cc fork_join.c -lnth -o fork_join && ./fork_join 25
 */
#include <stdio.h>
#include <stdlib.h>

#include "nth/nth.h"

static void fib(long n, long *result) {
  if (n < 2) {
    *result = n;
    return;
  }
  long left, right; /* on this thread's stack, which stays where it is while the thread waits */
  struct nth_desc *self = nth_self();

  nth_depadd(self, 3); /* the two ends, and the one that nth_block gives up */
  /* In front of the own queue: newest first, so that few threads wait; idle workers take some away. */
  nth_to_lrq(nth_worker(), nth_create_ls(fib, 0, self, 2, n - 1, &left));
  nth_to_lrq(nth_worker(), nth_create_ls(fib, 0, self, 2, n - 2, &right));
  nth_block();
  *result = left + right;
}

int main(int argc, char **argv) {
  const long n = argc > 1 ? atol(argv[1]) : 20;
  long result = 0;

  if (nth_init(NULL) != NTH_OK || nth_run(fib, 2, n, &result) != NTH_OK || nth_finalize() != NTH_OK) {
    fprintf(stderr, "fork_join: %s\n", nth_last_error());
    return EXIT_FAILURE;
  }
  printf("fib(%ld) = %ld\n", n, result);
  return EXIT_SUCCESS;
}
