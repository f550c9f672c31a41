/* A pipeline of three threads over rings of a few places. A thread that finds its ring empty or full blocks;
 * its neighbour wakes it by nth_unblock, which may come before the block: then that one returns at once.
 *
 *   cc pipeline.c -lnth -o pipeline && ./pipeline
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "nth/nth.h"

enum { PLACES = 64, STAGES = 3 };
#define ITEMS 200000L

struct ring {
  atomic_long put, taken; /* how many so far */
  long item[PLACES];
};

static struct ring rings[STAGES - 1];
static nth_handle_t stage[STAGES];
static long sum;

/* A wake-up can be an old one: whoever waits looks again. That of a neighbour that has ended is not missed. */
static void wake(nth_handle_t thread) {
  const nth_status status = nth_unblock(thread);
  if (status != NTH_OK && status != NTH_ESTALE)
    abort();
}

static void send(struct ring *r, long item, nth_handle_t receiver) {
  const long put = atomic_load(&r->put);
  while (put - atomic_load(&r->taken) == PLACES)
    nth_block();
  r->item[put % PLACES] = item;
  atomic_store(&r->put, put + 1);
  wake(receiver);
}

static long receive(struct ring *r, nth_handle_t sender) {
  const long taken = atomic_load(&r->taken);
  while (atomic_load(&r->put) == taken)
    nth_block();
  const long item = r->item[taken % PLACES];
  atomic_store(&r->taken, taken + 1);
  wake(sender);
  return item;
}

static void produce(void) {
  for (long i = 1; i <= ITEMS; i++)
    send(&rings[0], i, stage[1]);
}

static void square(void) {
  for (long i = 1; i <= ITEMS; i++) {
    const long item = receive(&rings[0], stage[0]);
    send(&rings[1], item * item % 1000, stage[2]);
  }
}

static void add(void) {
  for (long i = 1; i <= ITEMS; i++)
    sum += receive(&rings[1], stage[1]);
}

static void run_pipeline(void) {
  void (*const roots[STAGES])() = {produce, square, add};
  struct nth_desc *self = nth_self();

  nth_depadd(self, STAGES + 1);
  for (int i = 0; i < STAGES; i++) /* all handles are there before the first stage runs */
    stage[i] = nth_handle(nth_create_ls(roots[i], 0, self, 0));
  for (int i = 0; i < STAGES; i++)
    nth_to_lrq_end(i % kthreads, stage[i].thread);
  nth_block();
}

int main(void) {
  if (nth_init(NULL) != NTH_OK || nth_run(run_pipeline, 0) != NTH_OK || nth_finalize() != NTH_OK) {
    fprintf(stderr, "pipeline: %s\n", nth_last_error());
    return EXIT_FAILURE;
  }
  long expected = 0;
  for (long i = 1; i <= ITEMS; i++)
    expected += i * i % 1000;
  printf("sum %ld, expected %ld\n", sum, expected);
  return sum == expected ? EXIT_SUCCESS : EXIT_FAILURE;
}
