/* Threads of all ranks print; lines.py looks at what arrives. lines <threads a rank> <lines a thread> */
#include "nth/cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long threads, lines;
static char *long_text;

static void printer(long number) {
  for (long i = 0; i < lines; ++i) {
    const int wanted = snprintf(NULL, 0, "thread %ld line %ld of rank %d %s\n", number, i, nth_rank(),
                                i % 10 == 0 ? long_text : "end");
    if (nth_printf("thread %ld line %ld of rank %d %s\n", number, i, nth_rank(),
                   i % 10 == 0 ? long_text : "end") != wanted)
      abort();
  }
  if (nth_printf("two lines from %ld\nby one call %ld", number, number) < 0)
    abort();
}

static void root(void) {
  struct nth_desc *me = nth_self();
  nth_depadd(me, threads + 1);
  for (long i = 0; i < threads; ++i)
    nth_to_lrq((int)(i % kthreads), nth_create(printer, 0, 1, 1, me, i));
  nth_block();
}

int main(int argc, char **argv) {
  if (nth_cluster_init(&argc, &argv, NULL) != NTH_OK) {
    fprintf(stderr, "%s\n", nth_last_error());
    return 3;
  }
  threads = argc > 1 ? strtol(argv[1], NULL, 10) : 4;
  lines = argc > 2 ? strtol(argv[2], NULL, 10) : 100;
  long_text = calloc(1, 9001);
  memset(long_text, 'x', 9000); /* more than a pipe takes at once, and than the usual room */
  if (nth_run(root, 0) != NTH_OK || nth_printf("from outside of threads, rank %d\n", nth_rank()) < 0)
    abort();
  free(long_text);
  if (nth_cluster_finalize() != NTH_OK)
    abort();
  return 0;
}
