/* figure5.c with a check that follows at once, as figure4_return.c. */
#define nth_main figure5_main
#include "figure5.c"
#undef nth_main

void nth_main(void);

void nth_main(void) {
  figure5_main();
  figure4_check();
}
