/* The same in batches: the loops of paper 003, figure 5, one after the other. */
#include "ops/phases.h"

#include "empty/root.h"

#include <nth/nth.h>
#include <stdio.h>
#include <stdlib.h>

static long size_of(const struct ops_order *order, long done) {
  return order->n - done < order->batch ? order->n - done : order->batch;
}

/* Of batch k the first lies in all[2 k], the last in all[2 k + 1]. */
void ops_batch_find(struct ops_order *order) {
  struct nth_desc **at = order->all;
  for (long done = 0; done < order->n; done += order->batch, at += 2) {
    at[0] = nth_batch_get_desc(&at[1], size_of(order, done));
    if (at[0] == NULL) {
      fprintf(stderr, "no memory for %ld threads\n", order->n);
      _Exit(1);
    }
  }
}

void ops_batch_create(struct ops_order *order, struct nth_desc *master) {
  struct nth_desc **at = order->all;
  for (long done = 0; done < order->n; done += order->batch, at += 2) {
    for (struct nth_desc *t = at[0]; t != NULL; t = nth_batch_get_next(t))
      nth_batch_create_ls(t, (void (*)())empty_root, 0, master, 2, done, 0L);
  }
}

void ops_batch_enqueue(struct ops_order *order) {
  struct nth_desc **at = order->all;
  int to = 0;
  for (long done = 0; done < order->n; done += order->batch, at += 2) {
    nth_batch_to_lrq(to, at[0], at[1]);
    if (++to == kthreads)
      to = 0;
  }
}
