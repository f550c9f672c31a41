/* setjmp and stack protectors across ranks, in a C program of which each function has a canary (-fstack-protector-all).
 * Rank 0 fills a jmp_buf in a thread, three frames deep; the bytes of its stack go to rank 1 as they are, to the same
 * addresses, and a thread of rank 1 jumps there: it finds its locals, returns through two frames whose canaries are
 * checked, and jumps back to where rank 1's thread came from. */
#include "nth/cluster.h"

#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CHECK(condition) ((condition) ? (void)0 : failed(#condition, __LINE__))

static void failed(const char *what, int line) {
  fprintf(stderr, "rank %d: jumps.c:%d: CHECK(%s) failed\n", nth_rank(), line, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* At the same addresses on all ranks. */
static jmp_buf journey, home;
static volatile int arrived, filled, ended;
static uintptr_t stack_end;
static nth_handle_t traveller;

static __attribute__((noinline)) void deepest(const char *text, volatile int *number) {
  volatile char local[40];
  memcpy((char *)local, "kept on the stack", 18);
  if (setjmp(journey) == 0) {
    filled = 1;
    nth_block(); /* rank 0's own one goes on from here */
    return;
  }
  CHECK(nth_rank() == 1);
  CHECK(strcmp((const char *)local, "kept on the stack") == 0 && strcmp(text, "a word of the program") == 0);
  CHECK(*number == 42);
  *number = 43;
  arrived = 1;
}

static __attribute__((noinline)) int middle(int from) {
  volatile int number = 42;
  deepest("a word of the program", &number);
  return number + from; /* the canary of deepest was made on rank 0 */
}

static void traveller_root(void) {
  void *end;
  traveller = nth_handle(nth_self());
  CHECK(nth_stack_bounds(NULL, &end) == NTH_OK);
  stack_end = (uintptr_t)end;
  const int got = middle(7);
  if (arrived) { /* on rank 1, on a stack that nobody there knows of */
    CHECK(got == 50);
    longjmp(home, 5);
  }
  CHECK(got == 49);
  ended = 1;
}

static void jump_to_traveller(void) {
  const int back = setjmp(home);
  if (back == 0)
    longjmp(journey, 1);
  CHECK(back == 5 && arrived == 1);
  ended = 1;
}

/* The words of a jmp_buf are the registers themselves. */
static void send_stack(void) {
  uintptr_t words[8];
  memcpy(words, &journey, sizeof words);
  MPI_Bcast(&journey, sizeof journey, MPI_BYTE, 0, MPI_COMM_WORLD);
  MPI_Bcast(&stack_end, sizeof stack_end, MPI_BYTE, 0, MPI_COMM_WORLD);
  memcpy(words, &journey, sizeof words);
  const uintptr_t from = words[6] & ~(uintptr_t)15;
  CHECK(from < stack_end && stack_end - from < 16384);
  if (nth_rank() == 1) {
    const uintptr_t page = from & ~(uintptr_t)4095;
    CHECK(mprotect((void *)(page - 16384), stack_end - page + 16384, PROT_READ | PROT_WRITE) == 0);
  }
  char *bytes = (char *)from;
  char aside[16384]; /* rank 0's thread stands on the bytes themselves, so other ranks than 1 get a copy */
  MPI_Bcast(nth_rank() <= 1 ? bytes : aside, (int)(stack_end - from), MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void wait_for(const volatile int *word) {
  while (!*word)
    usleep(1000);
}

/* ---- What works as ever ---- */

static sigjmp_buf with_mask;

static void masks(void) {
  sigset_t set, now;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  CHECK(pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0);
  if (sigsetjmp(with_mask, 1) == 0) {
    CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
    siglongjmp(with_mask, 0); /* setjmp returns 1 for 0 */
  }
  CHECK(pthread_sigmask(SIG_BLOCK, NULL, &now) == 0 && !sigismember(&now, SIGUSR1));
  const int again = sigsetjmp(with_mask, 0);
  if (again < 3)
    siglongjmp(with_mask, again + 1);
  CHECK(again == 3);
}

static volatile int cleaned;
static void clean(void *arg) { cleaned = *(int *)arg; }

static void *until_cancelled(void *arg) {
  pthread_cleanup_push(clean, arg);
  for (;;)
    pause();
  pthread_cleanup_pop(0);
  return NULL;
}

static void outside(void) {
  jmp_buf here;
  volatile int times = 0;
  if (setjmp(here) < 3)
    longjmp(here, ++times);
  CHECK(times == 3);
  uintptr_t words[8];
  memcpy(words, &here, sizeof words);
  CHECK(words[6] - (uintptr_t)&here > 65536); /* the C library's: it hides rsp */
  pthread_t thread;
  int seven = 7;
  CHECK(pthread_create(&thread, NULL, until_cancelled, &seven) == 0);
  usleep(1000);
  CHECK(pthread_cancel(thread) == 0 && pthread_join(thread, NULL) == 0 && cleaned == 7);
}

int main(int argc, char **argv) {
  if (nth_cluster_init(&argc, &argv, NULL) != NTH_OK) {
    fprintf(stderr, "%s\n", nth_last_error());
    return 3;
  }
  outside();
  CHECK(nth_run(masks, 0) == NTH_OK);
  if (nth_ranks() > 1) {
    if (nth_rank() == 0) {
      nth_to_lrq(0, nth_create(traveller_root, 0, 0, 0));
      wait_for(&filled);
    }
    send_stack();
    if (nth_rank() == 1)
      CHECK(nth_run(jump_to_traveller, 0) == NTH_OK);
    if (nth_rank() == 0)
      CHECK(nth_unblock(traveller) == NTH_OK);
    if (nth_rank() <= 1)
      wait_for(&ended);
  }
  CHECK(nth_cluster_finalize() == NTH_OK);
  return 0;
}
