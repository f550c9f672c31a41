/* Loaded by loads.c: takes more stack than the thread has. */
#include <string.h>

long deep_work(long n);
long deep_work(long n) {
  char here[20000];
  memset(here, (int)n, sizeof here);
  return here[n % 20000] + 1;
}
