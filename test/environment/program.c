/* The program of environment.sh: program <mode> [number]. Exit status 0: as it should be; 1: not, and standard
 * error says what; 3: nth_init has refused with a message, 4: it has worked, and a thread got NTH_ENOMEM. */
#include "program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Noreturn void wrong(const char *text, const char *detail, long number) {
  fprintf(stderr, "FAILED: %s: %s (%ld)\n", text, detail, number);
  exit(1);
}

void expect(int holds, const char *text, long number) {
  if (!holds)
    wrong(text, "does not hold", number);
}

void start(void) {
  if (nth_init(NULL) != NTH_OK)
    wrong("nth_init", nth_last_error(), 0);
}

void finish(void) {
  if (nth_finalize() != NTH_OK)
    wrong("nth_finalize", nth_last_error(), 0);
}

static struct {
  nth_handle_t *handles;
  long count, made, classes, arrived, refused;
} blocking;

static void blocked_root(long i) {
  volatile char used[2000];
  used[0] = used[1999] = (char)i;
  blocking.handles[i] = nth_handle(nth_self());
  __atomic_fetch_add(&blocking.arrived, 1, __ATOMIC_RELEASE);
  if (nth_try_block() != NTH_OK)
    __atomic_fetch_add(&blocking.refused, 1, __ATOMIC_RELAXED);
  if (used[0] != (char)i || used[1999] != (char)i)
    wrong("a stack", "was written to by another", i);
}

static void block_main(void) {
  struct nth_desc *self = nth_self();
  long n = 0;
  for (; n < blocking.count; ++n) {
    struct nth_desc *d = nth_create_ls((any_root)blocked_root, 0, self, 1, n);
    if (d == NULL) {
      expect(errno == ENOMEM, "errno of nth_create_ls is ENOMEM", errno);
      break;
    }
    if (blocking.classes && n % 3 == 0 && nth_set_stack_size(d, 16384L << n / 3 % 7) != NTH_OK)
      wrong("nth_set_stack_size", nth_last_error(), n);
    blocking.handles[n].thread = d;
  }
  blocking.made = n;
  nth_depadd(self, n + 1);
  for (long i = 0; i < n; ++i)
    nth_to_lrq_end((int)(i % kthreads), blocking.handles[i].thread);
  while (__atomic_load_n(&blocking.arrived, __ATOMIC_ACQUIRE) < n)
    nth_yield();
  for (long i = 0; i < n; ++i) {
    const nth_status s = nth_unblock(blocking.handles[i]);
    expect(s == NTH_OK || s == NTH_ESTALE, "nth_unblock wakes, or the thread has ended", s);
  }
  while (nth_try_block() != NTH_OK)
    nth_yield();
}

long block_many(long count, int classes) {
  memset(&blocking, 0, sizeof blocking);
  blocking.handles = calloc((size_t)count, sizeof *blocking.handles);
  if (blocking.handles == NULL)
    return count;
  blocking.count = count;
  blocking.classes = classes;
  const nth_status s = nth_run((any_root)block_main, 0);
  free(blocking.handles);
  expect(s == NTH_OK || s == NTH_ENOMEM, "nth_run works, or there is no memory", s);
  return s == NTH_OK ? count - blocking.made + blocking.refused : count;
}

static long ran;
static void short_root(void) { __atomic_fetch_add(&ran, 1, __ATOMIC_RELAXED); }

static void short_main(long count) {
  struct nth_desc *self = nth_self();
  nth_depadd(self, count + 1);
  for (long i = 0; i < count; ++i) {
    struct nth_desc *d = nth_create_ls(short_root, 0, self, 0);
    if (d == NULL)
      wrong("nth_create_ls", nth_last_error(), i);
    nth_to_lrq_end((int)(i % kthreads), d);
  }
  nth_block();
}

void run_many(long count) {
  ran = 0;
  if (nth_run((any_root)short_main, 1, count) != NTH_OK)
    wrong("nth_run", nth_last_error(), count);
  expect(ran == count, "all threads ran", ran);
}

long status_kib(const char *name) {
  FILE *file = fopen("/proc/self/status", "r");
  char line[256];
  long value = -1;
  const size_t length = strlen(name);
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, name, length) == 0 && line[length] == ':')
      value = strtol(line + length + 1, NULL, 10);
  }
  if (file != NULL)
    fclose(file);
  return value;
}

long mappings(void) {
  FILE *file = fopen("/proc/self/maps", "r");
  long lines = 0;
  for (int c; file != NULL && (c = fgetc(file)) != EOF;)
    lines += c == '\n';
  if (file != NULL)
    fclose(file);
  return lines;
}

/* As many blocked threads as wished; an area that is too small for them is no failure. */
static int mode_blocked(long count) {
  nth_counters c;
  if (nth_init(NULL) != NTH_OK) {
    printf("refused: %s\n", nth_last_error());
    return 3;
  }
  expect(nth_get_counters(&c) == NTH_OK, "nth_get_counters", 0);
  const long refused = block_many(count, 0);
  printf("an area of %ld MiB: %ld of %ld threads blocked at one time\n", c.reserved_bytes >> 20,
         count - refused, count);
  finish();
  return refused == 0 ? 0 : 4;
}

/* What tools are shown: blocked threads on stacks of all classes, twice. */
static int mode_classes(long count) {
  for (int round = 0; round < 2; ++round) {
    start();
    run_many(count);
    expect(block_many(count, 1) == 0, "all threads block", count);
    finish();
  }
  return 0;
}

/* Ends in a core dump when nothing but the past is left of many threads. */
static int mode_core(long count) {
  start();
  for (int round = 0; round < 3; ++round)
    run_many(5 * count);
  expect(block_many(count, 0) == 0, "all threads block", count);
  printf("%ld mappings, VmRSS %ld MiB, VmHWM %ld MiB\n", mappings(), status_kib("VmRSS") >> 10,
         status_kib("VmHWM") >> 10);
  expect(mappings() < 200, "tens of mappings", mappings());
  fflush(stdout);
  abort();
}

int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "";
  const long count = argc > 2 ? strtol(argv[2], NULL, 10) : 1000;
  if (strcmp(mode, "blocked") == 0)
    return mode_blocked(count);
  if (strcmp(mode, "classes") == 0)
    return mode_classes(count);
  if (strcmp(mode, "core") == 0)
    return mode_core(count);
  if (strcmp(mode, "taken") == 0)
    return mode_taken();
  if (strcmp(mode, "full") == 0)
    return mode_full();
  if (strcmp(mode, "leak") == 0)
    return mode_leak();
  if (strcmp(mode, "values") == 0)
    return mode_values();
  wrong("no such mode", mode, 0);
}
