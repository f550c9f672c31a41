/* Kernel threads that are no workers, here main and another pthread, make threads and wait for them: each gets
 * a descriptor by nth_attach, is a successor like any thread, and sleeps in nth_block.
 *
 *   cc foreign.c -lnth -lpthread -o foreign && ./foreign
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "nth/nth.h"

enum { PARTS = 100 };
#define NUMBERS 1000000L

static void check(nth_status status) {
  if (status == NTH_OK)
    return;
  fprintf(stderr, "foreign: %s: %s\n", nth_strstatus(status), nth_last_error());
  exit(EXIT_FAILURE);
}

/* Counts the numbers in [begin, end) that have the remainder. */
static void count(long begin, long end, long remainder, long *result) {
  *result = 0;
  for (long i = begin; i < end; i++)
    *result += i * i % 1009 == remainder;
}

static void *count_all(void *argument) {
  const long remainder = *(const long *)argument;
  long part[PARTS], total = 0;
  struct nth_desc *self = nth_attach();
  if (self == NULL) {
    perror("nth_attach");
    exit(EXIT_FAILURE);
  }

  nth_depadd(self, PARTS + 1);
  for (long i = 0; i < PARTS; i++)
    nth_to_lrq_end((int)(i % kthreads), nth_create_ls(count, 0, self, 4, NUMBERS * i / PARTS,
                                                      NUMBERS * (i + 1) / PARTS, remainder, &part[i]));
  nth_block(); /* this kernel thread sleeps; it runs no nano-threads */
  check(nth_detach());

  for (int i = 0; i < PARTS; i++)
    total += part[i];
  printf("%ld of %ld squares leave %ld when divided by 1009\n", total, NUMBERS, remainder);
  return NULL;
}

int main(void) {
  long remainders[] = {4, 11};
  pthread_t other;

  check(nth_init(NULL));
  if (pthread_create(&other, NULL, count_all, &remainders[0]) != 0)
    return EXIT_FAILURE;
  count_all(&remainders[1]);
  pthread_join(other, NULL);
  check(nth_finalize());
  return EXIT_SUCCESS;
}
