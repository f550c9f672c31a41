/* main() for programs whose entry is nth_main, as the programs of paper 003 are written: starts the
 * run-time with the options of the environment, runs nth_main as a thread, ends the run-time.
 * Ends with 0, or prints what failed and ends with 1. */
#include "nth/nth.h"

#include <stdio.h>

int nth_argc;
char **nth_argv;

static int report(const char *what, nth_status status) {
  const char *message = nth_last_error();
  fprintf(stderr, "nth: %s: %s\n", what, *message ? message : nth_strstatus(status));
  return 1;
}

int main(int argc, char **argv) {
  nth_argc = argc;
  nth_argv = argv;

  nth_options options;
  nth_status status = nth_options_init(&options);
  if (status != NTH_OK)
    return report("options", status);
  status = nth_init(&options);
  if (status != NTH_OK)
    return report("start", status);
  status = nth_run(nth_main, 0);
  if (status != NTH_OK)
    return report("nth_main", status);
  status = nth_finalize();
  if (status != NTH_OK)
    return report("end (nth_main must wait for its threads)", status);
  return 0;
}
