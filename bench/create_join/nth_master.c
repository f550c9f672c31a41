/* C, so that it calls nth_create_ls itself and not its C++ overload. */
#include "nth_master.h"

#include "../empty/root.h"

#include <nth/nth.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

void create_join_master(long n) {
  struct nth_desc *const self = nth_self();
  for (long i = 0; i < n; i++) {
    nth_depadd(self, 2);
    struct nth_desc *t = nth_create_ls((void (*)())empty_root, 0, self, 2, i, 0L);
    if (t == NULL) {
      fprintf(stderr, "no memory after %ld of %ld threads\n", i, n);
      _Exit(1);
    }
    /* Where the master is now: it may have gone to another worker in the meantime. */
    nth_to_lrq(nth_worker(), t);
    nth_block();
  }
}
