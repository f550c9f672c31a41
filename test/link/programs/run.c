#define _GNU_SOURCE
#include "run.h"

#include <nth/nth.h>

#include <stdlib.h>
#include <string.h>

static char *expected;
static int wrong;
static long largest;

static char *output_of_work(void) {
  char *text = NULL;
  size_t size = 0;
  FILE *to = open_memstream(&text, &size);
  if (to == NULL)
    abort();
  work(to);
  fclose(to);
  return text;
}

static void root(long i) {
  (void)i;
  void *low = NULL;
  void *high = NULL;
  if (nth_stack_bounds(&low, &high) != NTH_OK)
    abort();
  const long size = (char *)high - (char *)low;
  if (size > __atomic_load_n(&largest, __ATOMIC_RELAXED))
    __atomic_store_n(&largest, size, __ATOMIC_RELAXED);
  nth_yield();
  char *text = output_of_work();
  nth_yield();
  if (strcmp(text, expected) != 0)
    __atomic_store_n(&wrong, 1, __ATOMIC_RELAXED);
  free(text);
}

static void all(long threads) {
  nth_depadd(nth_self(), (int)threads + 1);
  for (long i = 0; i < threads; ++i)
    nth_to_lrq(0, nth_create_ls((void (*)())root, 0, nth_self(), 1, i));
  nth_block();
}

int main(int argc, char **argv) {
  expected = output_of_work();
  fputs(expected, stdout);
  const long threads = argc > 1 ? atol(argv[1]) : 0;
  if (threads == 0)
    return 0;
  if (nth_init(NULL) != NTH_OK) {
    fprintf(stderr, "%s\n", nth_last_error());
    return 1;
  }
  if (nth_run((void (*)())all, 1, threads) != NTH_OK) {
    fprintf(stderr, "%s\n", nth_last_error());
    return 1;
  }
  if (nth_finalize() != NTH_OK) {
    fprintf(stderr, "%s\n", nth_last_error());
    return 1;
  }
  fprintf(stderr, "stacks of %ld bytes, %s\n", largest, wrong ? "wrong" : "right");
  return wrong;
}
