/* The master as it is printed in paper 003, figure 4. C, so that it calls nth_create_ls itself and not
 * its C++ overload. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "nth_master.h"

#include "root.h"

#include <nth/nth.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

void empty_master(struct empty_order *order) {
  struct nth_desc *const self = nth_self();
  const long window = order->window > 0 ? order->window : order->n;
  const double begin = now_ns();

  for (long done = 0; done < order->n; done += window) {
    const long count = order->n - done < window ? order->n - done : window;

    nth_depadd(self, count + 1);
    for (long i = 0; i < count; i++) {
      struct nth_desc *t = nth_create_ls((void (*)())empty_root, 0, self, 2, i, 0L);
      if (t == NULL) {
        /* The dependencies of the threads that could not be made would never be met. */
        fprintf(stderr, "no memory after %ld of %ld threads\n", done + i, order->n);
        _Exit(1);
      }
      nth_to_lrq((int)(i % kthreads), t);
    }
    nth_block();
  }
  order->ns = now_ns() - begin;
}
