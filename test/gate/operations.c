/* operations <operation> <n>: does n operations of one kind on one worker, for callgrind to count. */
#include <nth/loop.h>
#include <nth/spawn.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void (*root_function)();

static void nothing(void) {}

/* Threads made, enqueued and run in windows of 1000. */
static void window(long n) {
  struct nth_desc *const self = nth_self();
  for (long done = 0; done < n; done += 1000) {
    nth_depadd(self, 1001);
    for (long i = 0; i < 1000; i++)
      nth_to_lrq(0, nth_create_ls((root_function)nothing, 0, self, 2, i, 0L));
    nth_block();
  }
}

/* The same in batches of 8. */
static void batch(long n) {
  struct nth_desc *const self = nth_self();
  for (long done = 0; done < n; done += 1000) {
    nth_depadd(self, 1001);
    for (long i = 0; i < 1000; i += 8) {
      struct nth_desc *last;
      struct nth_desc *const first = nth_batch_get_desc(&last, 8);
      for (struct nth_desc *t = first; t != NULL; t = nth_batch_get_next(t))
        nth_batch_create_ls(t, (root_function)nothing, 0, self, 2, i, 0L);
      nth_batch_to_lrq(0, first, last);
    }
    nth_block();
  }
}

/* One thread made, enqueued and waited for. */
static void create_join(long n) {
  struct nth_desc *const self = nth_self();
  for (long i = 0; i < n; i++) {
    nth_depadd(self, 2);
    nth_to_lrq(0, nth_create_ls((root_function)nothing, 0, self, 2, i, 0L));
    nth_block();
  }
}

/* Two threads that yield to one another: n yields in all. */
static void yields(long n) {
  for (long i = 0; i < n; i++)
    nth_yield();
}
static void yield(long n) {
  struct nth_desc *const self = nth_self();
  nth_depadd(self, 3);
  for (int i = 0; i < 2; i++)
    nth_to_lrq_end(0, nth_create_ls((root_function)yields, 0, self, 1, n / 2));
  nth_block();
}

/* A thread that waits for nth_unblock, and one that wakes it: n times in all. */
static struct nth_desc *sleeper;
static void sleeps(long n) {
  for (long i = 0; i < n; i++)
    nth_block();
}
static void unblock(long n) {
  struct nth_desc *const self = nth_self();
  nth_depadd(self, 2);
  sleeper = nth_create_ls((root_function)sleeps, 0, self, 1, n);
  const nth_handle_t handle = nth_handle(sleeper);
  nth_to_lrq(0, sleeper);
  nth_yield();
  for (long i = 0; i < n; i++) {
    if (nth_unblock(handle) != NTH_OK)
      abort();
    nth_yield();
  }
  nth_block();
}

static void self(long n) {
  struct nth_desc *const me = nth_self();
  for (long i = 0; i < n; i++) {
    if (nth_self() != me)
      abort();
  }
}

/* A call spawned and synced. */
static long same(long value) { return value; }
static void spawn_sync(long n) {
  for (long i = 0; i < n; i++) {
    nth_spawn_record record;
    nth_spawn(&record, same, i);
    if (nth_sync(&record) != i)
      abort();
  }
}

/* The threads of one loop, which do nothing. */
static void no_index(long index, void *shared) {
  (void)index;
  (void)shared;
}
static void spawn_n(long n) {
  nth_depadd(nth_self(), 2);
  if (nth_spawn_n(no_index, n, NULL, nth_self()) != NTH_OK)
    abort();
  nth_block();
}

static const struct operation {
  const char *name;
  void (*root)(long);
} operations[] = {
    {"window", window},   {"batch", batch}, {"create_join", create_join}, {"yield", yield},
    {"unblock", unblock}, {"self", self},   {"spawn_sync", spawn_sync},   {"spawn_n", spawn_n},
};

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  nth_options options;
  if (nth_options_init(&options) != NTH_OK)
    return 2;
  options.workers = 1;
  options.bind = 0;
  options.spin_us = 0; /* an idle worker counts nothing */
  options.backlog = 0;
  options.guard = 0; /* the proof of a method runs a child */
  for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
    if (strcmp(argv[1], operations[i].name) != 0)
      continue;
    if (nth_init(&options) != NTH_OK ||
        nth_run((root_function)operations[i].root, 1, atol(argv[2])) != NTH_OK || nth_finalize() != NTH_OK) {
      fprintf(stderr, "%s\n", nth_last_error());
      return 1;
    }
    return 0;
  }
  return 2;
}
