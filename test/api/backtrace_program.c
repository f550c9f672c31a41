/* For gdb_backtrace.sh: prints how many frames backtrace() finds at a place, then calls backtrace_marker
 * there; in a thread that has just started, and in one that has been suspended. */
#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>

#include "nth/nth.h"

#define KEEP __attribute__((noinline))
#define NO_TAIL_CALL __asm__ volatile("" ::: "memory")

KEEP void backtrace_marker(void) { NO_TAIL_CALL; }

KEEP void backtrace_place(void) {
  void *frames[256];
  printf("frames: %d\n", backtrace(frames, 256));
  fflush(stdout);
  backtrace_marker();
  NO_TAIL_CALL;
}

KEEP void backtrace_deeper(long depth) {
  if (depth == 0)
    backtrace_place();
  else
    backtrace_deeper(depth - 1);
  NO_TAIL_CALL;
}

static void nothing(void) {}

static void root(void) {
  struct nth_desc *self = nth_self();
  backtrace_deeper(3);
  nth_depadd(self, 2);
  nth_to_lrq(0, nth_create_ls(nothing, 0, self, 0));
  nth_block();
  backtrace_deeper(5);
}

int main(void) {
  nth_options options;
  if (nth_options_init(&options) != NTH_OK)
    return EXIT_FAILURE;
  options.workers = 2;
  options.stack_size = 65536;
  if (nth_init(&options) != NTH_OK || nth_run(root, 0) != NTH_OK || nth_finalize() != NTH_OK) {
    fprintf(stderr, "%s\n", nth_last_error());
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
