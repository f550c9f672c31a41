/* A recursion in a hot loop, with the end of a stack somewhere inside of it: edge <depth> <turns> <calls above>. The
 * loop runs beneath so many calls, each as deep as those of the recursion; it calls the recursion to `depth` each turn. */
#include <nth/nth.h>
#include <stdio.h>
#include <stdlib.h>

static long depth, turns, above, sum, root_bytes;

__attribute__((noinline)) static long recursion(long n) {
  volatile long frame[4] = {n, n + 1, n + 2, n + 3};
  if (n == 0)
    return frame[0] + frame[3];
  return recursion(n - 1) + frame[1];
}

__attribute__((noinline)) static long loop_above(long n) {
  volatile long frame[4] = {n, n + 1, n + 2, n + 3};
  if (n > 0)
    return loop_above(n - 1) + frame[1];
  long all = 0;
  for (long i = 0; i < turns; ++i)
    all += recursion(depth) + frame[0];
  return all;
}

static void root(void) {
  void *lowest, *end;
  nth_yield();
  if (nth_stack_bounds(&lowest, &end) == NTH_OK)
    root_bytes = (char *)end - (char *)lowest;
  sum = loop_above(above);
}

int main(int argc, char **argv) {
  nth_options options;
  nth_stats stats;
  if (nth_options_init(&options) != NTH_OK)
    return 2;
  options.workers = 1;
  depth = argc > 1 ? atol(argv[1]) : 1;
  turns = argc > 2 ? atol(argv[2]) : 1;
  above = argc > 3 ? atol(argv[3]) : 0;
  if (nth_init(&options) != NTH_OK || nth_run((void (*)())root, 0) != NTH_OK ||
      nth_get_stats(&stats) != NTH_OK || nth_finalize() != NTH_OK) {
    fprintf(stderr, "edge: %s\n", nth_last_error());
    return 2;
  }
  printf("%ld\n", sum);
  fprintf(stderr, "{\"root_bytes\": %ld, \"segments_switched\": %ld, \"segments_most\": %ld}\n", root_bytes,
          stats.segments_switched, stats.segments_most);
  return 0;
}
