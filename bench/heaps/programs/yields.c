/* Two threads that yield to each other: yields <turns>. With INLINE in line; with LIVE five variables live in the loop. */
#include <nth/nth.h>
#include <stdlib.h>
#ifdef INLINE
#include <nth/inline.h>
#define YIELD nth_yield_inline
#else
#define YIELD nth_yield
#endif

static long turns;
static volatile long sink;

static void root(long a) {
#ifdef LIVE
  long b = a + sink, c = a * 3 + sink, d = a * 5 + sink, e = a * 7 + sink;
  for (long i = 0; i < turns; ++i) {
    YIELD();
    b += c ^ i;
    c += d;
    d += e;
    e += b;
  }
  sink = b + c + d + e;
#else
  for (long i = 0; i < turns; ++i)
    YIELD();
  sink = a;
#endif
}

static void first(void) {
  struct nth_desc *self = nth_self();
  nth_depadd(self, 3);
  for (long i = 0; i < 2; ++i)
    nth_to_lrq(0, nth_create_ls((void (*)())root, 0, self, 1, i));
  nth_block();
}

int main(int argc, char **argv) {
  nth_options options;
  turns = argc > 1 ? atol(argv[1]) : 0;
  if (nth_options_init(&options) != NTH_OK)
    return 2;
  options.workers = 1;
  return nth_init(&options) != NTH_OK || nth_run((void (*)())first, 0) != NTH_OK || nth_finalize() != NTH_OK;
}
