/* Stops on a third segment, for gdb_backtrace.sh. */
#include <nth/nth.h>

#include <stdio.h>
#include <stdlib.h>

int stub_walk(int levels, void **frames, int most);
void growth_marker(int frames);

__attribute__((noinline)) void growth_marker(int frames) {
  printf("frames: %d\n", frames);
  fflush(stdout);
}

static void root(void) {
  void *frames[64];
  growth_marker(stub_walk(12, frames, 64));
}

int main(void) {
  if (nth_init(NULL) != NTH_OK || nth_run((void (*)())root, 0) != NTH_OK || nth_finalize() != NTH_OK) {
    fprintf(stderr, "%s\n", nth_last_error());
    return 1;
  }
  return 0;
}
