/* The master as it is printed in paper 003, figure 5, with a window beside. C, for the same reason as nth_master.c. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "nth_batch_master.h"

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

void empty_batch_master(struct empty_order *order, long batch) {
  struct nth_desc *const self = nth_self();
  const long window = order->window > 0 ? order->window : order->n;
  const double begin = now_ns();

  for (long done = 0; done < order->n; done += window) {
    const long count = order->n - done < window ? order->n - done : window;

    nth_depadd(self, count + 1);
    for (long i = 0; i < count; i += batch) {
      const long size = count - i < batch ? count - i : batch;
      struct nth_desc *last;
      struct nth_desc *const first = nth_batch_get_desc(&last, size);
      if (first == NULL) {
        /* The dependencies of the threads that could not be made would never be met. */
        fprintf(stderr, "no memory after %ld of %ld threads\n", done + i, order->n);
        _Exit(1);
      }
      for (struct nth_desc *t = first; t != NULL; t = nth_batch_get_next(t))
        nth_batch_create_ls(t, (void (*)())empty_root, 0, self, 2, i, 0L);
      nth_batch_to_lrq((int)(i / batch % kthreads), first, last);
    }
    nth_block();
  }
  order->ns = now_ns() - begin;
}
