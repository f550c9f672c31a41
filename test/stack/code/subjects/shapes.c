/* Functions of every shape that a frame may have, each called by main: compiled with each optimisation, their frames
   are compared with what the compiler says (-fstack-usage) and with what single steps show. */
#include <alloca.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __clang__
#define KEEP __attribute__((noinline))
#else
#define KEEP __attribute__((noinline, noclone))
#endif

volatile int sink;
volatile int zero;
static jmp_buf back;

KEEP static void fill(void *to, int n, size_t size) {
  memset(to, n, size);
  __asm__ volatile("" : : "r"(to) : "memory");
}

KEEP static int leaf(int a, int b) { return a * 3 + b; }

KEEP static int red_zone(int n) {
  volatile int a[12];
  for (int i = 0; i < 12; ++i)
    a[i] = i * n;
  return a[n & 7] + a[11];
}

KEEP static int callee_saved(int a, int b, int c, int d) {
  int x = leaf(a, b), y = leaf(b, c), z = leaf(c, d), w = leaf(d, a);
  return leaf(x, y) + leaf(z, w) + x * y * z * w;
}

KEEP static int big_frame(int n) {
  char buffer[20000];
  fill(buffer, n, sizeof buffer);
  sink = buffer[n * 7];
  return leaf(buffer[n], buffer[n + 1]);
}

KEEP static int page_frame(int n) {
  volatile char buffer[3 * 4096 + 40];
  buffer[n] = 1;
  sink = buffer[n];
  return leaf(n, sink);
}

KEEP static int arguments(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j, int k) {
  return a + b + c + d + e + f + g + h + i + j + k + zero;
}

KEEP static int pushes_arguments(int n) {
  int s = arguments(n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
  if (n > 2)
    s += arguments(n, s, 2, 3, 4, 5, 6, 7, 8, s, 10);
  return leaf(s, n);
}

struct large {
  long words[40];
};

KEEP static struct large by_value(struct large l) {
  l.words[3] += l.words[5];
  return l;
}

KEEP static int structs(int n) {
  struct large l;
  for (int i = 0; i < 40; ++i)
    l.words[i] = i * n;
  l = by_value(l);
  return (int)by_value(l).words[3];
}

KEEP static int variadic(int n, ...) {
  va_list list;
  va_start(list, n);
  double s = 0;
  for (int i = 0; i < n; ++i)
    s += va_arg(list, double);
  va_end(list);
  return (int)s;
}

KEEP static int aligned(int n) {
  _Alignas(64) char buffer[128];
  fill(buffer, n, sizeof buffer);
  sink = buffer[n];
  return leaf(buffer[3], n) + (int)((unsigned long)buffer & 63);
}

KEEP static int allocates(int n) {
  char *p = alloca((size_t)n * 8);
  fill(p, n, (size_t)n * 8);
  return leaf(p[n], n);
}

KEEP static int array_of_length(int n) {
  int a[n];
  for (int i = 0; i < n; ++i)
    a[i] = i;
  sink = a[n / 2];
  {
    long b[n + 3];
    b[0] = n;
    b[n] = 2;
    sink += (int)(b[0] + b[n]);
  }
  return leaf(a[0], a[n - 1]);
}

KEEP static int switches(int n, int m) {
  switch (n) {
  case 0:
    return leaf(m, 1);
  case 1:
    return m + 77;
  case 2:
    return leaf(leaf(m, 2), 9);
  case 3:
    return arguments(m, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1);
  case 4:
    sink = m;
    return 5;
  case 5:
    return red_zone(m);
  case 6:
    return m * m;
  case 9:
    return big_frame(m) + 1;
  default:
    return -1;
  }
}

KEEP static int computed_goto(const unsigned char *program) {
  static const void *const labels[] = {&&l_add, &&l_sub, &&l_call, &&l_end};
  int a = 1, b = 2;
  goto *labels[*program];
l_add:
  a += b;
  goto *labels[*++program];
l_sub:
  b -= a;
  goto *labels[*++program];
l_call:
  a = leaf(a, b);
  goto *labels[*++program];
l_end:
  return a + b;
}

KEEP __attribute__((cold)) static void complain(int n) { fprintf(stderr, "never: %d\n", n), abort(); }

KEEP static int with_cold_part(int n, int *p) {
  int s = leaf(n, 1);
  if (__builtin_expect(p == NULL, 0)) {
    sink = s;
    complain(s);
  }
  *p += s;
  if (__builtin_expect(zero != 0, 0)) {
    printf("cold %d %d %d %d %d %d %d %d\n", s, 1, 2, 3, 4, 5, 6, *p);
    sink = leaf(s, *p);
  }
  return s + *p;
}

KEEP static int sibling(int n, int m) {
  sink = n;
  if (n > 3)
    return leaf(m, n);
  return callee_saved(n, m, 2, 3);
}

KEEP static int recursive(int n) { return n <= 1 ? 1 : n * recursive(n - 1) + leaf(n, 2); }

typedef int operation(int, int);
static operation *const table[] = {leaf, sibling, leaf};
static operation *changeable = leaf;
struct methods {
  long unused;
  operation *run;
};
static const struct methods some = {1, sibling};
const struct methods *volatile chosen = &some;

KEEP static int pointers(int n) {
  int s = 0;
  if ((unsigned)n < 3)
    s = table[n](n, 3);
  s += changeable(s, 2);
  return s + chosen->run(s, 1) + 1;
}

KEEP static int jumps(int n) {
  if (setjmp(back) != 0)
    return 7;
  if (n > 2)
    longjmp(back, 1);
  return leaf(n, 1);
}

KEEP static long double long_doubles(long double a, long double b) { return a * b + leaf(1, 2); }

int main(void) {
  static const unsigned char program[] = {0, 1, 2, 0, 1, 3};
  int x = 1, s = 0;
  for (int n = 1; n < 4; ++n) {
    s += leaf(n, 2) + red_zone(n) + callee_saved(n, 2, 3, 4) + big_frame(n) + page_frame(n);
    s += pushes_arguments(n) + structs(n) + variadic(3, 1.0, 2.0, n * 1.0) + aligned(n) + allocates(n + 5);
    s += array_of_length(n + 4) + computed_goto(program) + with_cold_part(n, &x) + sibling(n, 4);
    s += recursive(n) + pointers(n) + jumps(n) + (int)long_doubles(n, 2);
  }
  for (int n = 0; n < 11; ++n)
    s += switches(n, 3);
  printf("%d\n", s);
  return 0;
}
