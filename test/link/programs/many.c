/* Calls of every kind, from threads on small stacks. Without an argument the same runs on the kernel's stack: the output
 * must be the same. */
#include "run.h"

#include <alloca.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

static NOINLINE long down(long n) {
  volatile char here[40];
  here[n % 40] = (char)n;
  return n == 0 ? 0 : 1 + down(n - 1) + here[n % 40] - (char)n;
}

static NOINLINE long is_odd(long n);
static NOINLINE long is_even(long n) { return n == 0 ? 1 : is_odd(n - 1) + 0 * (long)(size_t)&n; }
static NOINLINE long is_odd(long n) { return n == 0 ? 0 : is_even(n - 1) + 0 * (long)(size_t)&n; }

static NOINLINE long ackermann(long m, long n) {
  if (m == 0)
    return n + 1;
  return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

static NOINLINE long many(long a, long b, long c, long d, long e, long f, long g, long h, long i, double x,
                          long j) {
  if (a == 0)
    return b + 2 * c + 3 * d + 4 * e + 5 * f + 6 * g + 7 * h + 8 * i + (long)x + 9 * j;
  return many(a - 1, c, d, e, f, g, h, i, j, x + 1, b) + 1;
}

struct large {
  long word[60];
};
static NOINLINE struct large by_value(struct large l, long n) {
  if (n > 0)
    l = by_value(l, n - 1);
  for (int i = 0; i < 60; ++i)
    l.word[i] += n + i;
  return l;
}

/* Read by an index that no analysis knows; by a jump, with more than is copied of what nobody knows. */
static NOINLINE long pick(struct large l, long k, long n) {
  long sum = 0;
  for (long i = 0; i < n % 60; ++i)
    sum += l.word[i * k % 60];
  return n == 0 ? sum : sum + pick(l, k, n - 1);
}
struct larger {
  long word[300];
};
static NOINLINE long end_of(struct larger l, long k) {
  long sum = 0;
  for (long i = 0; i < 300; ++i)
    sum += l.word[i * k % 300];
  return sum;
}
static NOINLINE long jump_on(struct larger l, long k) {
  volatile char here[1500];
  here[k] = (char)k;
  l.word[3] += here[k];
  return end_of(l, k);
}
static long (*volatile jumps_on)(struct larger, long) = jump_on;
static NOINLINE long jump_down(long n) {
  struct larger l;
  for (long i = 0; i < 300; ++i)
    l.word[i] = i + n;
  return n == 0 ? 0 : jumps_on(l, n) + jump_down(n - 1);
}

static NOINLINE long sum_of(int n, ...) {
  va_list list;
  va_start(list, n);
  long sum = 0;
  for (int i = 0; i < n; ++i)
    sum += i % 2 == 0 ? va_arg(list, long) : (long)va_arg(list, double);
  va_end(list);
  return sum;
}
static NOINLINE long vary(long n) {
  return n == 0 ? 0 : vary(n - 1) + sum_of(12, n, 1.5, n, 2.5, n, 3.5, n, 4.5, n, 5.5, n, 6.5);
}

static NOINLINE long double scaled(long n, long double x) {
  return n == 0 ? x : scaled(n - 1, x * 1.01L) + 1.0L;
}

static int by_number(const void *a, const void *b) {
  volatile char frame[200];
  frame[0] = 1;
  const long x = *(const long *)a;
  const long y = *(const long *)b;
  return (x > y) - (x < y) + frame[0] - 1;
}

typedef long (*step)(long, const void *);
static long twice(long n, const void *list);
static long thrice(long n, const void *list);
static const step steps[] = {twice, thrice, 0};
static long twice(long n, const void *list) {
  return n <= 0 ? 1 : 2 + ((const step *)list)[n % 2](n - 1, list);
}
static long thrice(long n, const void *list) {
  return n <= 0 ? 2 : 3 + ((const step *)list)[n % 2](n - 1, list);
}

static NOINLINE void jump_from(jmp_buf *back, long n) {
  volatile char here[64];
  here[0] = (char)n;
  if (n == 0)
    longjmp(*back, 7);
  jump_from(back, n - 1);
  here[1] = here[0];
}
static NOINLINE long jumps(void) {
  jmp_buf back;
  volatile long times = 0;
  for (volatile long i = 0; i < 50; ++i) {
    const int got = setjmp(back);
    if (got == 0)
      jump_from(&back, i * 10);
    times += got;
  }
  return times;
}

static NOINLINE long with_alloca(long n) {
  char *p = alloca((size_t)(16 + n * 8));
  memset(p, (int)n, (size_t)(16 + n * 8));
  return n == 0 ? p[3] : with_alloca(n - 1) + p[n] - (char)n;
}

static NOINLINE long with_vla(long n) {
  long list[n + 1];
  for (long i = 0; i <= n; ++i)
    list[i] = i;
  return n == 0 ? 0 : list[n] + with_vla(n - 1);
}

static NOINLINE long vectors(long n) {
  typedef double four __attribute__((vector_size(32)));
  four v = {(double)n, 1, 2, 3};
  if (n > 0)
    v *= (double)(vectors(n - 1) % 100);
  return (long)(v[0] + v[1] + v[2] + v[3]);
}

static NOINLINE void show(FILE *to, const char *name, long value) { fprintf(to, "%s %ld\n", name, value); }

void work(FILE *to) {
  show(to, "down", down(20000));
  show(to, "even", is_even(10001) + 2 * is_odd(777));
  show(to, "ackermann", ackermann(2, 60));
  show(to, "many", many(300, 1, 2, 3, 4, 5, 6, 7, 8, 0.25, 9));
  struct large l;
  memset(&l, 0, sizeof l);
  l = by_value(l, 100);
  show(to, "by value", l.word[0] + l.word[59]);
  show(to, "picked", pick(l, 7, 130));
  show(to, "jumped on", jump_down(40));
  show(to, "vary", vary(200));
  fprintf(to, "scaled %.10Lf\n", scaled(500, 1.25L));
  long numbers[2000];
  for (long i = 0; i < 2000; ++i)
    numbers[i] = i * 7919 % 2003;
  qsort(numbers, 2000, sizeof *numbers, by_number);
  show(to, "sorted", numbers[0] + 3 * numbers[1000] + 5 * numbers[1999]);
  show(to, "steps", steps[0](5000, steps));
  show(to, "jumps", jumps());
  show(to, "alloca", with_alloca(100));
  show(to, "array", with_vla(100));
  show(to, "vectors", vectors(300));
  char text[200];
  snprintf(text, sizeof text, "%s %5.3f %x %*d", "words", 3.14159, 48879, 9, 42);
  fprintf(to, "%s %zu\n", text, strlen(text));
}
