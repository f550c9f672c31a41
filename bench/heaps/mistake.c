#include "mistake.h"

#include <nth/nth.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_long reported;

static size_t append(char *text, size_t at, const char *word) {
  const size_t length = strlen(word);
  memcpy(text + at, word, length);
  return at + length;
}

static size_t append_number(char *text, size_t at, long number) {
  char digits[24];
  size_t n = sizeof digits;
  unsigned long left = number < 0 ? 0UL - (unsigned long)number : (unsigned long)number;
  do
    digits[--n] = (char)('0' + left % 10);
  while ((left /= 10) != 0);
  if (number < 0)
    digits[--n] = '-';
  memcpy(text + at, digits + n, sizeof digits - n);
  return at + sizeof digits - n;
}

/* Its frame is the point of it: a message that is built in an array, as such routines do. No stdio: that is unbounded. */
static void __attribute__((noinline)) report(const char *what, long where) {
  char text[HEAPS_MISTAKE_FRAME];
  size_t n = append(text, 0, "mistake: ");
  n = append(text, n, what);
  n = append(text, n, " at ");
  n = append_number(text, n, where);
  n = append(text, n, "\n");
  if (write(STDERR_FILENO, text, n) != (ssize_t)n)
    abort();
  atomic_fetch_add_explicit(&reported, 1, memory_order_relaxed);
}

void __attribute__((noinline)) heaps_mistake(const char *what, long where) {
  struct nth_desc *const self = nth_self();
  if (self == NULL)
    return;
#ifdef HEAPS_DIRECT_CALL
  report(what, where);
#else
  nth_depadd(self, 2); /* the reporter's, and the caller's own, which nth_block gives up */
  struct nth_desc *reporter = nth_create_ls((void (*)())report, 0, self, 2, (long)what, where);
  if (reporter == NULL)
    abort();
  nth_to_lrq(nth_worker(), reporter);
  nth_block();
#endif
}

long heaps_mistakes(void) { return atomic_load(&reported); }
