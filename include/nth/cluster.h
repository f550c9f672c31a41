/* Cluster runs: nano-threads on several ranks of one MPI run, `mpirun -n 4 ./program` (paper 004). Memory of
 * nth/iso.h has the same address on all of them; slots that one rank lacks it buys from the others.
 *
 * A program is linked by mpicc or mpic++ with the flags of pkg-config's module nth-cluster: at fixed addresses, nth,
 * libstdc++ and libgcc static, so that code and data lie alike on all ranks while address randomisation stays on.
 * Without mpirun it is a cluster of one rank. Calls of this header want a stack of 16 KiB or more. `nth/nth.h` says what
 * [thread], [outside] and [any] stand for. */
#ifndef NTH_CLUSTER_H
#define NTH_CLUSTER_H

#include "nth/iso.h"
#include "nth/nth.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Starts MPI, unless the program has (then with MPI_THREAD_SERIALIZED at least), and the run-time on each rank, and
 * makes sure that all ranks are the same program with the same options that matter, on the same addresses. All ranks
 * call it; `argc` and `argv` are main's, or NULL; NULL for `options` stands for what nth_options_init gives.
 * On each rank the same answer: NTH_EINVAL, when a rank differs from rank 0 or cannot take part, nth_last_error names
 * it and what differs; when it has started MPI, that has ended then, and cannot be started again. NTH_ENOMEM, NTH_ESYS,
 * NTH_ESTATE as for nth_init. [outside] */
NTH_API NTH_NODISCARD nth_status nth_cluster_init(int *argc, char ***argv, const nth_options *options);

/* Waits until all ranks have called it, serving their messages meanwhile; ends the run-time, and MPI if
 * nth_cluster_init has started it. NTH_EBUSY when threads of this rank are alive, NTH_ESTATE when no cluster run is up:
 * then nothing was changed. [outside] */
NTH_API NTH_NODISCARD nth_status nth_cluster_finalize(void);

/* This rank, 0 to nth_ranks() - 1; 0 and 1 outside of cluster runs. A thread may be on another rank after each call
 * that moves it. [any] */
NTH_API int nth_rank(void);
NTH_API int nth_ranks(void);

/* Waits until all ranks have called it as often; other threads run meanwhile. nth_cluster_finalize is no such call: a
 * rank that misses a barrier leaves the others waiting. One call at a time on a rank: NTH_ESTATE else, or when no
 * cluster run is up. [any] */
NTH_API NTH_NODISCARD nth_status nth_cluster_barrier(void);

/* As printf, on the standard output of rank 0: whole lines, each after "[rank N] ", those of one thread in their
 * order. A text that does not end a line gets a newline. Returns when it is written; other threads run meanwhile.
 * The number of characters of the text, or -1 with errno. [any] */
NTH_API int nth_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Regroups the free slots of all ranks: each keeps as many as it has, side by side as far as can be, so that large
 * blocks need no purchases for a while (paper 004, section 4.4, last paragraph). One rank calls it for all; other
 * threads run meanwhile. It takes a message for each 2048 series of free slots: in a cyclic run on 16 TiB, with 2^28
 * of them, a minute; set NTH_ISO_SIZE to what the program needs. NTH_ESTATE when no cluster run is up, NTH_ENOMEM. [any] */
NTH_API NTH_NODISCARD nth_status nth_regroup_slots(void);

/* What this rank has sent and bought. */
typedef struct nth_cluster_stats {
  long
      purchases; /* times that a thread found no slots, and regroupings; the following four add up to it, but for
                       * purchases for which the kernel had no memory */
  long local;    /* served by this rank after all: with slots that were bought beside others, or given back */
  long from_one;      /* from one rank: one round trip */
  long system_wide;   /* by the system-wide critical section */
  long failed;        /* in vain: no rank had such a series of slots */
  long sales;         /* sales to others */
  long regroupings;   /* begun by this rank */
  long messages;      /* sent, of all kinds */
  long message_bytes; /* in them */
  long polls;         /* looks for messages */
} nth_cluster_stats;
/* NTH_EINVAL, NTH_ESTATE. [any] */
NTH_API NTH_NODISCARD nth_status nth_get_cluster_stats(nth_cluster_stats *stats);

#ifdef __cplusplus
}
#endif
#endif
