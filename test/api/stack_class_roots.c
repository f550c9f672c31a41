/* Roots that run on stacks of a few hundred bytes. */
#include "stack_class_roots.h"

#include <nth/inline.h>
#include <nth/iso.h>
#include <nth/loop.h>
#include <nth/nth.h>
#include <nth/spawn.h>

#include <stdint.h>
#include <string.h>

/* Frames of small_waits and small_works are a few words; measured by none, so given with room. */
long small_depth = 32;

void small_waits(long *count) {
  __atomic_fetch_add(count, 1, __ATOMIC_RELEASE);
  nth_block();
  __atomic_fetch_sub(count, 1, __ATOMIC_RELEASE);
}

void small_works(long *count) {
  nth_yield();
  __atomic_fetch_add(count, 1, __ATOMIC_RELEASE);
  nth_yield();
}

void small_plain(void) {}

void small_sums(long *sum, long a, long b, long c, long d, long e) {
  nth_yield();
  *sum = a + b + c + d + e;
}

/* Makes two threads of the default class and one of a small one, and waits for them. */
void small_creates(long *count) {
  struct nth_desc *const self = nth_self();
  nth_depadd(self, 4);
  for (int i = 0; i < 3; i++) {
    struct nth_desc *thread = nth_create_ls((void (*)())small_works, 0, self, 1, count);
    if (i == 0 && nth_set_stack_need(thread, small_depth + 2 * NTH_CALL_STACK) != NTH_OK)
      return;
    if (i == 2)
      nth_to_lrq_end(0, thread);
    else
      nth_to_lrq(0, thread);
  }
  nth_block();
  __atomic_fetch_add(count, 1, __ATOMIC_RELEASE);
}

/* How far below rsp a call has written. What lies below is painted first. */
#define PAINTED 1000
#define PAINT 0x5a

__attribute__((noinline)) static void paint(void) {
  char *const sp = __builtin_frame_address(0);
  /* Below this frame, which is a few words. */
  for (long i = 128; i < PAINTED; i++)
    ((volatile char *)sp)[-i] = PAINT;
}

__attribute__((noinline)) static long written(void) {
  const volatile char *const sp = __builtin_frame_address(0);
  long i = PAINTED - 1;
  while (i >= 128 && sp[-i] == PAINT)
    i--;
  return i + 16; /* what lies at the frame's own address and above it, down from the caller's rsp */
}

/* Calls with variable arguments. */
#define LISTED (2 * NTH_CALL_STACK + 32)

#define CHECK(limit, call)                                                                                   \
  do {                                                                                                       \
    paint();                                                                                                 \
    call;                                                                                                    \
    const long taken = written();                                                                            \
    if (taken > (limit) && taken > *worst)                                                                   \
      *worst = taken;                                                                                        \
  } while (0)

static long small_child(long value) {
  nth_yield();
  return value + 1;
}

static void small_index(long index, void *shared) {
  (void)index;
  (void)shared;
}

void small_calls(long *worst) {
  struct nth_desc *const self = nth_self();
  struct nth_desc *thread = NULL;
  struct nth_desc *other = NULL;
  struct nth_desc *batch = NULL;
  struct nth_desc *last = NULL;
  long words[1] = {0};
  void *lowest = NULL;
  const nth_handle_t me = nth_handle(self);
  CHECK(NTH_CALL_STACK, nth_yield());
  CHECK(2 * NTH_CALL_STACK, nth_yield_inline());
  CHECK(NTH_CALL_STACK, nth_no_suspend_begin());
  CHECK(NTH_CALL_STACK, nth_no_suspend_end());
  CHECK(NTH_CALL_STACK, (void)nth_alive(me));
  CHECK(NTH_CALL_STACK, thread = nth_create_ls(small_plain, 0, NULL, 0));
  CHECK(NTH_CALL_STACK, nth_to_lrq(0, thread));
  CHECK(NTH_CALL_STACK, thread = nth_create_ls_v(small_plain, 0, NULL, 1, words));
  CHECK(NTH_CALL_STACK, nth_to_lrq_end(0, thread));
  CHECK(LISTED, thread = nth_create(small_plain, 0, 1, 0, self));
  CHECK(LISTED, other = nth_create(small_plain, 0, 1, 0, self));
  CHECK(NTH_CALL_STACK, batch = nth_batch_get_desc(&last, 3));
  CHECK(NTH_CALL_STACK, nth_batch_create_ls(batch, small_plain, 0, NULL, 0));
  CHECK(NTH_CALL_STACK, nth_batch_create_ls_v(nth_batch_get_next(batch), small_plain, 0, NULL, 1, words));
  CHECK(LISTED, nth_batch_create(last, small_plain, 0, 0, 0));
  CHECK(NTH_CALL_STACK, nth_batch_to_lrq(0, batch, last));
  CHECK(NTH_CALL_STACK, batch = nth_batch_get_desc(&last, 200));
  for (struct nth_desc *t = batch; t != NULL; t = nth_batch_get_next(t))
    nth_batch_create_ls(t, small_plain, 0, NULL, 0);
  CHECK(NTH_CALL_STACK, nth_batch_to_lrq_end(nth_workers() - 1, batch, last));
  CHECK(NTH_CALL_STACK, (void)!nth_set_stack_need(thread, 100));
  CHECK(NTH_CALL_STACK, (void)!nth_set_stack_size(other, 20000));
  CHECK(NTH_CALL_STACK, (void)!nth_set_stack_need(other, -1)); /* a mistake, with its message */
  CHECK(NTH_CALL_STACK, nth_depadd(self, 3));
  CHECK(NTH_CALL_STACK, nth_to_lrq_end(nth_workers() - 1, thread));
  CHECK(NTH_CALL_STACK, nth_to_lrq(0, other));
  CHECK(NTH_CALL_STACK, nth_block());
  CHECK(NTH_CALL_STACK, (void)!nth_unblock(me));
  CHECK(NTH_CALL_STACK, (void)!nth_try_block());
  CHECK(NTH_CALL_STACK, (void)!nth_stack_bounds(&lowest, NULL));
  nth_spawn_record record;
  long value = 0;
  for (int i = 0; i < 3; i++) {
    CHECK(NTH_CALL_STACK, nth_spawn(&record, small_child, i));
    if (i != 0)
      nth_yield(); /* the call has become a thread, which has perhaps begun */
    CHECK(NTH_CALL_STACK, value = nth_sync(&record));
    if (value != i + 1)
      *worst = -1;
  }
  CHECK(NTH_CALL_STACK, (void)!nth_spawn_n(small_index, 10, NULL, NULL));
}

void small_init(struct nth_desc *member, void (*root)(), void *word) {
  nth_batch_create_ls(member, root, 0, NULL, 1, word);
}

/* Memory that keeps its address: the first block of a thread, then short ways and long ones, and mistakes. */
void small_allocates(long *worst) {
  static int here;
  volatile size_t much = (size_t)1 << 62;
  volatile size_t wrong = 3;
  void *blocks[8];
  void *block = NULL;
  long bytes = 0;
  for (int i = 0; i < 8; i++)
    CHECK(NTH_CALL_STACK, blocks[i] = nth_isomalloc(16));
  CHECK(NTH_CALL_STACK, bytes = (long)nth_isousable_size(blocks[7]));
  if (bytes < 16)
    *worst = -1;
  for (int i = 0; i < 8; i++)
    CHECK(NTH_CALL_STACK, nth_isofree(blocks[i]));
  CHECK(NTH_CALL_STACK, block = nth_isomalloc(3000));
  CHECK(NTH_CALL_STACK, block = nth_isorealloc(block, 50)); /* moves */
  CHECK(NTH_CALL_STACK, block = nth_isorealloc(block, 52)); /* stays */
  CHECK(NTH_CALL_STACK, block = nth_isorealloc(block, 100000));
  CHECK(NTH_CALL_STACK, block = nth_isorealloc(block, 300000));
  CHECK(NTH_CALL_STACK, block = nth_isorealloc(block, 0));
  CHECK(NTH_CALL_STACK, block = nth_isorealloc(NULL, 10));
  CHECK(NTH_CALL_STACK, nth_isofree(block));
  CHECK(NTH_CALL_STACK, block = nth_isocalloc(10, 100));
  CHECK(NTH_CALL_STACK, nth_isofree(block));
  CHECK(NTH_CALL_STACK, block = nth_isocalloc(much, much)); /* NULL */
  CHECK(NTH_CALL_STACK, block = nth_isoaligned_alloc(4096, 100));
  CHECK(NTH_CALL_STACK, nth_isofree(block));
  CHECK(NTH_CALL_STACK, block = nth_isoaligned_alloc_here(128, 100000));
  CHECK(NTH_CALL_STACK, nth_isofree(block));
  CHECK(NTH_CALL_STACK, block = nth_isoaligned_alloc(1 << 20, 100));
  CHECK(NTH_CALL_STACK, nth_isofree(block));

  CHECK(NTH_CALL_STACK, block = nth_isoaligned_alloc(wrong, 100)); /* NULL */
  CHECK(NTH_CALL_STACK, block = nth_isomalloc(much));              /* NULL */
  CHECK(NTH_CALL_STACK, nth_isofree(&here));                       /* a mistake */
  CHECK(NTH_CALL_STACK, bytes = (long)nth_isousable_size(&here));
  /* Of a thread that runs elsewhere meanwhile, and after it. */
  CHECK(NTH_CALL_STACK, block = nth_isomalloc(40));
  nth_yield();
  CHECK(NTH_CALL_STACK, nth_isofree(block));
  CHECK(NTH_CALL_STACK, (void)!nth_isomalloc(40));
}

/* Blocks that live while the thread waits, on stacks of a few hundred bytes. */
void small_keeps(long *wrong) {
  struct nth_desc **const mine = (struct nth_desc **)nth_isomalloc(sizeof *mine);
  if (mine == NULL) {
    __atomic_fetch_add(wrong, 1, __ATOMIC_RELAXED);
    return;
  }
  *mine = nth_self();
  for (int i = 0; i < 3; i++) {
    void *const other = nth_isomalloc(100);
    nth_yield();
    if (*mine != nth_self() || nth_isousable_size(other) < 100)
      __atomic_fetch_add(wrong, 1, __ATOMIC_RELAXED);
    nth_isofree(other);
  }
}
