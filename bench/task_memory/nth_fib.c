/* C, so that it calls nth_create_ls itself and not its C++ overload. */
#include "nth_fib.h"

#include <nth/nth.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static void fib_root(long n, long *result, struct fib_count *counts);

static void create(long n, long *result, struct fib_count *counts) {
  struct nth_desc *t = nth_create_ls((void (*)())fib_root, 0, nth_self(), 3, n, result, counts);
  if (t == NULL) {
    fprintf(stderr, "task_memory: no memory for a thread\n");
    _Exit(1);
  }
  nth_to_lrq(nth_worker(), t);
}

static void fib_root(long n, long *result, struct fib_count *counts) {
  ++counts[nth_worker()].runs;
  if (n < 2) {
    *result = n;
    return;
  }
  long a = 0, b = 0;
  nth_depadd(nth_self(), 3);
  create(n - 2, &b, counts);
  create(n - 1, &a, counts); /* in front, so it runs first */
  nth_block();
  *result = a + b;
}

long nth_fib(long n, struct fib_count *counts) {
  long result = 0;
  nth_depadd(nth_self(), 2);
  create(n, &result, counts);
  nth_block();
  return result;
}
