#include "ops/phases.h"

#include "empty/root.h"
#include "ops/ticks.h"

#include <nth/nth.h>
#include <stdio.h>
#include <stdlib.h>

static void create_all(struct ops_order *order, struct nth_desc *master) {
  for (long i = 0; i < order->n; i++) {
    struct nth_desc *t = nth_create_ls((void (*)())empty_root, 0, master, 2, i, 0L);
    if (t == NULL) {
      fprintf(stderr, "no memory for %ld threads\n", order->n);
      _Exit(1);
    }
    order->all[i] = t;
  }
}

static void enqueue_all(struct ops_order *order) {
  for (long i = 0; i < order->n; i++)
    nth_to_lrq((int)(i % kthreads), order->all[i]);
}

void ops_round(struct ops_order *order) {
  struct nth_desc *const self = nth_self();
  nth_depadd(self, order->n + 1);
  if (order->held || order->spin)
    ops_close(self, order->spin);
  if (!order->held)
    ops_release(); /* by now each other worker has had its core */

  const long taken = cores_taken();
  uint64_t t[5];
  t[0] = ticks();
  if (order->batch > 0) {
    ops_batch_find(order);
    t[1] = ticks();
    ops_batch_create(order, self);
    t[2] = ticks();
    ops_batch_enqueue(order);
  } else {
    t[1] = t[0];
    create_all(order, self);
    t[2] = ticks();
    enqueue_all(order);
  }
  t[3] = ticks();
  ops_release();
  nth_block();
  t[4] = ticks();
  order->disturbed = cores_taken() != taken;
  order->find = t[1] - t[0];
  order->create = t[2] - t[1];
  order->enqueue = t[3] - t[2];
  order->drain = t[4] - t[3];
}

void ops_fresh(struct ops_order *order, long rounds, uint64_t *create) {
  struct nth_desc *const self = nth_self();
  struct nth_desc **const all = order->all;
  nth_depadd(self, rounds * order->n + 1);
  for (long r = 0; r < rounds; r++) {
    order->all = all + r * order->n;
    const uint64_t begin = ticks();
    create_all(order, self);
    create[r] = ticks() - begin;
  }
  for (long r = 0; r < rounds; r++) {
    order->all = all + r * order->n;
    enqueue_all(order);
  }
  order->all = all;
  nth_block();
}
