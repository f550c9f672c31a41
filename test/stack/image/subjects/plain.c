/* Calls of libc, a function pointer in constant data, a constructor, an alias, a function that is never called. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int (*operation)(int);

static int twice(int x) { return 2 * x; }
static int square(int x) { return x * x; }
int shown(int x) { return x + 1; }
int __other_name(int x) __attribute__((alias("shown")));

const operation operations[] = {twice, square, shown};
operation changing = shown;

__attribute__((constructor)) static void before_main(void) { changing = operations[0]; }

__attribute__((noinline, cold)) static void complain(const char *text) {
  fprintf(stderr, "%s\n", text);
  abort();
}

int main(int argc, char **argv) {
  char buffer[64];
  memset(buffer, argc, sizeof buffer);
  if (argc > 1000)
    complain(argv[0]);
  printf("%d\n", operations[argc % 3](changing(argc)) + buffer[1]);
  return getenv("NOTHING") != NULL;
}
