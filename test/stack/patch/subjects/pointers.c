/* Addresses of functions in all places where C has them. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int fn(int);

__attribute__((noinline)) static int twice(int x) { return 2 * x; }
__attribute__((noinline)) static int thrice(int x) { return 3 * x; }
__attribute__((noinline)) int square(int x) { return x * x; }
__attribute__((noinline)) int minus(int x) { return -x; }

static fn *const in_rodata[] = {twice, square, thrice, minus, twice};
fn *in_data[3] = {square, minus, thrice};
static struct {
  const char *name;
  fn *f;
} named[] = {{"twice", twice}, {"square", square}, {"thrice", thrice}};

__attribute__((noinline)) static fn *choose(const char *name) {
  for (size_t i = 0; i < sizeof named / sizeof *named; ++i)
    if (strcmp(named[i].name, name) == 0)
      return named[i].f;
  return NULL;
}

__attribute__((noinline)) static int is_square(fn *f) { return f == square; }
__attribute__((noinline)) static int is_twice(fn *f) { return f == twice; }

static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

__attribute__((noinline)) static long fact(int n) { return n <= 1 ? 1 : n * fact(n - 1); }
static int odd(unsigned n);
__attribute__((noinline)) static int even(unsigned n) { return n == 0 ? 1 : odd(n - 1); }
__attribute__((noinline)) static int odd(unsigned n) { return n == 0 ? 0 : even(n - 1); }

struct large {
  long a[20];
};
__attribute__((noinline)) struct large fill(struct large in, long double x, int n, double y, long a, long b,
                                            long c, long d, long e) {
  in.a[n] = (long)(x + y) + a + b + c + d + e;
  return in;
}
__attribute__((noinline)) static double sum(double a, double b, double c, double d, double e, double f,
                                            double g, double h, double i) {
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i;
}

/* A switch of many cases: a table of labels, which must stay as it is. */
__attribute__((noinline)) static int decide(int x) {
  switch (x) {
  case 0:
    return printf("zero\n");
  case 1:
    return square(x + 7);
  case 2:
    return (int)strlen("two");
  case 3:
    return thrice(x);
  case 4:
    return puts("four");
  case 5:
    return twice(x) + minus(4);
  case 6:
    return 17;
  case 7:
    return x - square(2);
  default:
    return -1;
  }
}

__attribute__((noinline)) static int labels(const char *program) {
  static const void *const to[] = {&&add, &&mul, &&end};
  int x = 1;
  goto *to[*program++ - '0'];
add:
  x += 3;
  goto *to[*program++ - '0'];
mul:
  x *= 5;
  goto *to[*program++ - '0'];
end:
  return x;
}

static jmp_buf there;
__attribute__((noinline)) static void leap(int n) {
  if (n == 0)
    longjmp(there, 5);
  leap(n - 1);
  puts("never");
}

int main(void) {
  int numbers[] = {5, 3, 9, 1, 7, 2};
  qsort(numbers, 6, sizeof *numbers, compare);
  for (int i = 0; i < 6; ++i)
    printf("%d ", numbers[i]);
  for (int i = 0; i < 5; ++i)
    printf("%d ", in_rodata[i](i + 1));
  for (int i = 0; i < 3; ++i)
    printf("%d ", in_data[i](i + 4));
  in_data[0] = thrice;
  printf("%d\n", in_data[0](9));
  fn *volatile f = choose("square");
  printf("%d %d %d %d\n", is_square(f), is_twice(f), f == in_rodata[1], choose("twice") == in_rodata[4]);
  f = twice;
  printf("%d %d %d\n", is_twice(f), f == named[0].f, f(21));
  printf("%ld %d %d\n", fact(15), even(1000), odd(77));
  struct large l = {{0}};
  l = fill(l, 2.5L, 3, 1.5, 1, 2, 3, 4, 5);
  printf("%ld %g\n", l.a[3], sum(1, 2, 3, 4, 5, 6, 7, 8, 9));
  for (int i = -1; i < 9; ++i)
    printf("%d ", decide(i));
  printf("%d\n", labels("01012"));
  if (setjmp(there) == 0)
    leap(10);
  else
    puts("landed");
  return 0;
}
