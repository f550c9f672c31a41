/* One round of Empty, its phases apart: all threads are created, then all are enqueued, then all are run.
 * Each phase is timed as a whole.
 *
 *   field     contains                                            cannot tell apart
 *   find      batches only: nth_batch_get_desc
 *   create    Natural: nth_create_ls, and the store of a pointer  finding a descriptor from filling it in
 *             Batch: nth_batch_create_ls and _get_next; T_C = find + create
 *   enqueue   nth_to_lrq or nth_batch_to_lrq, thread i, batch i   the worker's own queue from those of others:
 *             for worker i mod P, and the load of a pointer       1 put in P is to the own one
 *   drain     all of T_L, T_S, the call of an empty root, T_T,    these from one another (inside.cpp does), and
 *             and once the suspension of the master               stealing, which evens out what workers have
 *
 * Free rounds: the other workers idle while threads are created and run what arrives while it is enqueued, as
 * in a program; their drain is only what is left. Held rounds: each other worker is kept by a thread that waits
 * for the release, so that all threads lie in the queues when the drain begins. With as many cores as workers
 * that thread spins, else it sleeps in the kernel. */
#ifndef NTH_BENCH_OPS_PHASES_H
#define NTH_BENCH_OPS_PHASES_H

#include <stdatomic.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct nth_desc;

struct ops_order {
  long n;
  long batch;                            /* threads a batch; 0: one by one, Natural */
  int held;                              /* the other workers wait until all is enqueued */
  int spin;                              /* they do so without sleeping: a core each */
  struct nth_desc **all;                 /* room for 2 n */
  uint64_t find, create, enqueue, drain; /* ticks; out */
  int disturbed;                         /* the kernel took a core away meanwhile; out */
};

/* Roots. */
void ops_round(struct ops_order *order);
/* Creates `rounds` times n threads, all of them alive at the end, one by one, then runs all. create[i]: ticks of
 * the i-th n; `all` has room for rounds * n. Those that find no descriptor that was used before take fresh memory. */
void ops_fresh(struct ops_order *order, long rounds, uint64_t *create);

/* Other workers are kept (gate.c). The master adds a dependency for each: ops_close returns their number. */
int ops_close(struct nth_desc *master, int spin);
void ops_release(void);

/* The threads of batches (batch.c); 0 where they were left out of this build. */
void ops_batch_find(struct ops_order *order);
void ops_batch_create(struct ops_order *order, struct nth_desc *master);
void ops_batch_enqueue(struct ops_order *order);

#ifdef __cplusplus
}
#endif

#endif
