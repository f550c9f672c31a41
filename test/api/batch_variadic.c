#include "batch_variadic.h"

long batch_sum;
int batch_calls;

static void add(long sum) {
  __atomic_fetch_add(&batch_sum, sum, __ATOMIC_RELAXED);
  __atomic_fetch_add(&batch_calls, 1, __ATOMIC_RELAXED);
}

static void root_0(void) { add(0); }
static void root_1(long a) { add(a); }
static void root_2(long a, long b) { add(a + 2 * b); }
static void root_3(long a, long b, long c) { add(a + 2 * b + 3 * c); }
static void root_4(long a, long b, long c, long d) { add(a + 2 * b + 3 * c + 4 * d); }
static void root_5(long a, long b, long c, long d, long e) { add(a + 2 * b + 3 * c + 4 * d + 5 * e); }
static void root_6(long a, long b, long c, long d, long e, long f) {
  add(a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f);
}
static void root_7(long a, long b, long c, long d, long e, long f, long g) {
  add(a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g);
}

#define INIT(root, count, ...)                                                                               \
  case count:                                                                                                \
    if (many)                                                                                                \
      nth_batch_create(member, root, 0, 1, count, s, __VA_ARGS__);                                           \
    else                                                                                                     \
      nth_batch_create_ls(member, root, 0, s, count, __VA_ARGS__);                                           \
    break

void batch_init_with(struct nth_desc *member, int count, int many, struct nth_desc *s, long x) {
  switch (count) {
  case 0:
    if (many)
      nth_batch_create(member, root_0, 0, 1, 0, s);
    else
      nth_batch_create_ls(member, root_0, 0, s, 0);
    break;
    INIT(root_1, 1, x);
    INIT(root_2, 2, x, x + 1);
    INIT(root_3, 3, x, x + 1, x + 2);
    INIT(root_4, 4, x, x + 1, x + 2, x + 3);
    INIT(root_5, 5, x, x + 1, x + 2, x + 3, x + 4);
    INIT(root_6, 6, x, x + 1, x + 2, x + 3, x + 4, x + 5);
    INIT(root_7, 7, x, x + 1, x + 2, x + 3, x + 4, x + 5, x + 6);
  }
}
