/* Keeps all workers but the master's busy, each with a thread that ends when it is let go. */
#include "ops/phases.h"

#include <nth/nth.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_int arrived;
static atomic_int open_gate;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;

static void rest(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

static void gate_spins(void) {
  atomic_fetch_add(&arrived, 1);
  while (!atomic_load_explicit(&open_gate, memory_order_acquire))
    rest();
}

static void gate_sleeps(void) {
  pthread_mutex_lock(&lock);
  atomic_fetch_add(&arrived, 1);
  while (!atomic_load_explicit(&open_gate, memory_order_acquire))
    pthread_cond_wait(&opened, &lock);
  pthread_mutex_unlock(&lock);
}

int ops_close(struct nth_desc *master, int spin) {
  const int gates = kthreads - 1;
  const int here = nth_worker();
  atomic_store(&arrived, 0);
  atomic_store(&open_gate, 0);
  nth_depadd(master, gates);
  for (int i = 1; i <= gates; i++) {
    struct nth_desc *t = nth_create_ls(spin ? (void (*)())gate_spins : (void (*)())gate_sleeps, 0, master, 0);
    if (t == NULL) {
      fprintf(stderr, "no memory for %d threads\n", gates);
      _Exit(1);
    }
    nth_to_lrq((here + i) % kthreads, t);
  }
  /* They leave the master's worker when they are asked for. Each keeps the worker that it runs on, so all of
   * them run on different ones, and none on the master's as long as the master is not suspended. */
  while (atomic_load(&arrived) < gates) {
    if (spin)
      rest();
    else
      sched_yield();
  }
  return gates;
}

void ops_release(void) {
  pthread_mutex_lock(&lock);
  atomic_store_explicit(&open_gate, 1, memory_order_release);
  pthread_cond_broadcast(&opened);
  pthread_mutex_unlock(&lock);
}
