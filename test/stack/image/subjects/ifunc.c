/* An ifunc, called through the PLT and through a pointer. */
#include <stdio.h>

static int small(int x) { return x + 1; }
static int large(int x) { return x + 2; }

static int (*choose(void))(int) {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") ? large : small;
}

int chosen(int x) __attribute__((ifunc("choose")));
int (*pointer)(int) = chosen;

int main(int argc, char **argv) {
  (void)argv;
  printf("%d %d\n", chosen(argc), pointer(argc));
  return 0;
}
