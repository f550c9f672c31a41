/* nth_block must not return before the last thread has ended: the program of figure 4 with a check that
 * follows at once. */
#define nth_main figure4_main
#include "figure4.c"
#undef nth_main

void nth_main(void);

void nth_main(void) {
  figure4_main();
  figure4_check();
}
