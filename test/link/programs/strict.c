/* Threads whose roots have a proved need, none, and none of their own: what NTH_STACK_STRICT says of them. */
#include <nth/nth.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void bounded(long n) { *(volatile long *)n = 1; }

static __attribute__((noinline)) long sum_of(long n) {
  char list[n];
  memset(list, (int)n, (size_t)n);
  return list[n / 2];
}
static void unbounded(long n) { /* its own frame */
  char list[*(volatile long *)n + 1];
  memset(list, 0, sizeof list);
  *(volatile long *)n = list[0] + 1;
}
static void guarded(long n) { *(volatile long *)n = sum_of(*(volatile long *)n + 100) / 100; }

static int refused(const char *name, void (*root)(long)) {
  static long word;
  word = 0;
  struct nth_desc *d = nth_create((void (*)())root, 0, 0, 1, (long)&word);
  printf("%s: %s\n", name, d != NULL ? "created" : nth_last_error());
  if (d != NULL)
    nth_to_lrq(0, d);
  return d == NULL;
}

static void note(nth_status status, const char *message) { (void)status, (void)message; }

int main(void) {
  nth_set_error_handler(note);
  if (nth_init(NULL) != NTH_OK) {
    printf("%s\n", nth_last_error());
    return 1;
  }
  refused("bounded", bounded);
  refused("unbounded", unbounded);
  refused("guarded", guarded);
  return nth_finalize() != NTH_OK;
}
