/* The options of a run: part of nth/nth.h, which says how they are read and used. */
#ifndef NTH_OPTIONS_H
#define NTH_OPTIONS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Where a thread's stack comes from (paper 000, sections 1 and 4). */
typedef enum nth_policy {
  NTH_POLICY_DSR = 0, /* direct stack reuse: the next thread runs on the stack of the one that ended */
  NTH_POLICY_LSA = 1, /* lazy stack allocation: found at dispatch, returned at termination */
  NTH_POLICY_DOS = 2  /* descriptor on stack: one region made at creation */
} nth_policy;

/* Options of a run. Each field has an environment variable, which is read by nth_options_init;
 * `doc/options.md` lists names, defaults and ranges, and so does nth_options_print. */
typedef struct nth_options {
  long workers;      /* NTH_WORKERS: kernel threads that run nano-threads; 0: one a usable core */
  long stack_size;   /* NTH_STACK_SIZE: bytes of a thread's stack, a power of two */
  long stack_policy; /* NTH_STACK_POLICY: an nth_policy; dsr, lsa or dos in the environment */
  long bind;         /* NTH_BIND: 1 pins each worker to a core */
  long backlog; /* NTH_BACKLOG: waiting threads of a worker above which a creator makes way; 0: no bound */
  long spin_us; /* NTH_SPIN_US: microseconds that an idle worker looks for work before it sleeps */
  long guard;   /* NTH_GUARD: 1 puts a guard page below each stack of 16 KiB and more */
  long report_deadlock; /* NTH_REPORT_DEADLOCK: 1 reports blocked threads when nothing is left to run */
  long area_size;       /* NTH_AREA_SIZE: bytes of address space to reserve, a power of two */
  /* How many idle objects are kept: by each worker, for each NUMA node, for all; what exceeds the last goes
   * back to the kernel (paper 001, section 1). Idle at most: (workers + 1) * local + nodes * node + global; the
   * one more is for kernel threads outside. Stacks: of each size; below 4 KiB as many times more as a page holds. */
  long descriptors_local;  /* NTH_DESCRIPTORS_LOCAL */
  long descriptors_node;   /* NTH_DESCRIPTORS_NODE */
  long descriptors_global; /* NTH_DESCRIPTORS_GLOBAL */
  long stacks_local;       /* NTH_STACKS_LOCAL */
  long stacks_node;        /* NTH_STACKS_NODE */
  long stacks_global;      /* NTH_STACKS_GLOBAL */
  /* Of programs linked with small stacks (doc/small-stacks.md). NTH_STACK_STRICT: 1 refuses threads whose root has no
   * bound or calls what has none, 2 also those whose bound rests on an assumption. NTH_STACK_MOST: bytes of segments
   * that one thread may have, a power of two; a thread that asks for more ends the program. */
  long stack_strict;
  long stack_most;
  long stats; /* NTH_STATS: 1 writes the numbers of nth_get_stats to standard error at the end */
  /* NTH_PLACEMENT: which hardware thread each worker has: "cores", "compact", "scatter", or a list such as
   * "0-3,8", "0-6:2" or "node:1"; NULL or "": cores. Not copied: it must live until nth_init returns. From
   * nth_options_init it points into the environment, so setenv and putenv may end it. */
  const char *placement;
  /* Of memory that keeps its address (nth/iso.h). */
  long iso_size;   /* NTH_ISO_SIZE: bytes of address space for it, of all ranks together; a power of two */
  long slot_size;  /* NTH_SLOT_SIZE: bytes of a slot, the unit in which ranks own it; a power of two */
  long slot_cache; /* NTH_SLOT_CACHE: empty slots, of 64 KiB, that keep their memory */
  long
      slot_prebuy; /* NTH_SLOT_PREBUY: slots that are bought from another rank beside those that are wanted */
  long iso_check;  /* NTH_ISO_CHECK: 1 finds writes behind a block when it is freed */
  /* Of cluster runs (nth/cluster.h). */
  long cluster_thread; /* NTH_CLUSTER_THREAD: 1 gives messages between ranks a kernel thread of their own */
  long
      cluster_poll_us; /* NTH_CLUSTER_POLL_US: microseconds after which an idle rank looks for messages again */
  /* NTH_SLOT_DISTRIBUTION: which rank owns which slot when the run begins: "partitioned", "cyclic", "block-cyclic",
   * "block-cyclic:N" or "user"; NULL or "": partitioned. It must live as long as `placement`. */
  const char *slot_distribution;
} nth_options;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* NTH_OPTIONS_H */
