#include "create_variadic.h"

const int create_counts[CREATE_COUNTS] = {0, 1, 2, 5, 6, 7, 8, NTH_MAX_ARGS};
long create_seen[NTH_MAX_ARGS];
int create_seen_count;

static void note(int count, const long *words) {
  for (int i = 0; i < count; i++)
    create_seen[i] = words[i];
  create_seen_count = count;
}

static void root_0(void) { note(0, (const long[]){0}); }
static void root_1(long a) { note(1, (const long[]){a}); }
static void root_2(long a, long b) { note(2, (const long[]){a, b}); }
static void root_5(long a, long b, long c, long d, long e) { note(5, (const long[]){a, b, c, d, e}); }
static void root_6(long a, long b, long c, long d, long e, long f) {
  note(6, (const long[]){a, b, c, d, e, f});
}
static void root_7(long a, long b, long c, long d, long e, long f, long g) {
  note(7, (const long[]){a, b, c, d, e, f, g});
}
static void root_8(long a, long b, long c, long d, long e, long f, long g, long h) {
  note(8, (const long[]){a, b, c, d, e, f, g, h});
}

/* Eight words (parameters, their names, arguments) whose names or values begin with x. */
#define PARAMETERS(x) long x##0, long x##1, long x##2, long x##3, long x##4, long x##5, long x##6, long x##7
#define NAMES(x) x##0, x##1, x##2, x##3, x##4, x##5, x##6, x##7
#define WORDS(x) (x) + 0, (x) + 1, (x) + 2, (x) + 3, (x) + 4, (x) + 5, (x) + 6, (x) + 7
#define ALL_WORDS(x)                                                                                         \
  WORDS((x)), WORDS((x) + 8), WORDS((x) + 16), WORDS((x) + 24), WORDS((x) + 32), WORDS((x) + 40),            \
      WORDS((x) + 48), WORDS((x) + 56)

static void root_64(PARAMETERS(a), PARAMETERS(b), PARAMETERS(c), PARAMETERS(d), PARAMETERS(e), PARAMETERS(f),
                    PARAMETERS(g), PARAMETERS(h)) {
  note(64, (const long[]){NAMES(a), NAMES(b), NAMES(c), NAMES(d), NAMES(e), NAMES(f), NAMES(g), NAMES(h)});
}

struct nth_desc *create_with(int which, struct nth_desc *s, long x) {
  switch (create_counts[which]) {
  case 0:
    return nth_create(root_0, 0, 1, 0, s);
  case 1:
    return nth_create(root_1, 0, 1, 1, s, x);
  case 2:
    return nth_create(root_2, 0, 1, 2, s, x, x + 1);
  case 5:
    return nth_create(root_5, 0, 1, 5, s, x, x + 1, x + 2, x + 3, x + 4);
  case 6:
    return nth_create(root_6, 0, 1, 6, s, x, x + 1, x + 2, x + 3, x + 4, x + 5);
  case 7:
    return nth_create(root_7, 0, 1, 7, s, x, x + 1, x + 2, x + 3, x + 4, x + 5, x + 6);
  case 8:
    return nth_create(root_8, 0, 1, 8, s, WORDS(x));
  default:
    return nth_create(root_64, 0, 1, 64, s, ALL_WORDS(x));
  }
}

struct nth_desc *create_ls_with(int which, struct nth_desc *s, long x) {
  switch (create_counts[which]) {
  case 0:
    return nth_create_ls(root_0, 0, s, 0);
  case 1:
    return nth_create_ls(root_1, 0, s, 1, x);
  case 2:
    return nth_create_ls(root_2, 0, s, 2, x, x + 1);
  case 5:
    return nth_create_ls(root_5, 0, s, 5, x, x + 1, x + 2, x + 3, x + 4);
  case 6:
    return nth_create_ls(root_6, 0, s, 6, x, x + 1, x + 2, x + 3, x + 4, x + 5);
  case 7:
    return nth_create_ls(root_7, 0, s, 7, x, x + 1, x + 2, x + 3, x + 4, x + 5, x + 6);
  case 8:
    return nth_create_ls(root_8, 0, s, 8, WORDS(x));
  default:
    return nth_create_ls(root_64, 0, s, 64, ALL_WORDS(x));
  }
}

struct nth_desc *create_with_three_successors(struct nth_desc *a, struct nth_desc *b, struct nth_desc *c) {
  return nth_create(root_2, 0, 3, 2, a, b, c, 70L, -71L);
}
