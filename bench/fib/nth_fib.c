/* The C interface. */
#include "nth_fib.h"

#include <nth/spawn.h>

long fib_nth(long n) {
  if (n < 2)
    return n;
  nth_spawn_record left;
  nth_spawn(&left, fib_nth, n - 1);
  const long right = fib_nth(n - 2);
  return nth_sync(&left) + right;
}
