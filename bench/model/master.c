#include "model/master.h"

#include "empty/root.h"
#include "ops/phases.h"
#include "ops/ticks.h"

#include <nth/nth.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { slots_max = 4096 };

/* Ticks worked, a line for each kernel thread; only that one writes it. */
static struct { _Alignas(64) _Atomic uint64_t ticks; } slots[slots_max];
static atomic_int slots_used;
static _Thread_local _Atomic uint64_t *mine;

static _Atomic uint64_t *take_slot(void) {
  const int slot = atomic_fetch_add(&slots_used, 1);
  if (slot >= slots_max)
    abort();
  return mine = &slots[slot].ticks;
}

/* T_W is a time, not a number of instructions: two cores that share execution units need longer for the same
 * instructions when both work, which the model does not know. */
static void work_root(long work, long b) {
  const uint64_t begin = ticks();
  uint64_t now = begin;
  while (now - begin < (uint64_t)work)
    now = ticks();
  _Atomic uint64_t *const worked = mine != NULL ? mine : take_slot();
  atomic_store_explicit(worked, atomic_load_explicit(worked, memory_order_relaxed) + (now - begin),
                        memory_order_relaxed);
  empty_root(work, b);
}

uint64_t model_worked(void) {
  uint64_t sum = 0;
  for (int i = 0; i < slots_max; i++)
    sum += atomic_load_explicit(&slots[i].ticks, memory_order_relaxed);
  return sum;
}

void model_master(struct model_order *order) {
  struct nth_desc *const self = nth_self();
  void (*const root)() = order->work > 0 ? (void (*)())work_root : (void (*)())empty_root;
  nth_depadd(self, order->n + 1);
  if (order->meet) {
    ops_close(self, 1);
    ops_release();
  }
  const long taken = cores_taken();
  const uint64_t begin = ticks();
  for (long i = 0; i < order->n; i++) {
    struct nth_desc *t = nth_create_ls(root, 0, self, 2, order->work, 0L);
    if (t == NULL) {
      fprintf(stderr, "no memory for %ld threads\n", order->n);
      _Exit(1);
    }
    nth_to_lrq((int)(i % kthreads), t);
  }
  order->create = ticks() - begin;
  nth_block();
  order->total = ticks() - begin;
  order->disturbed = cores_taken() != taken;
}

uint64_t model_work(long n, long work) {
  void (*volatile root)(long, long) = work > 0 ? work_root : empty_root;
  const uint64_t begin = ticks();
  for (long i = 0; i < n; i++)
    root(work, 0);
  return ticks() - begin;
}
