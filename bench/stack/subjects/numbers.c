// What libc and libm alone give: formatted numbers, sorting, mathematics.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(void) {
  static double v[2000];
  for (int i = 0; i < 2000; ++i)
    v[i] = sin(i) * exp(cos(i * 0.7)) + pow(1.001, i) + log1p(i) + tgamma(1 + i % 9) + fmod(i, 2.7);
  qsort(v, 2000, sizeof *v, compare);
  for (int i = 0; i < 2000; i += 100)
    printf("%4d %12.6f %g %a\n", i, v[i], v[i], v[i]);
  return 0;
}
