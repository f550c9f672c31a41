/* Memory that keeps its address: what a nano-thread allocates here lies at the same address on every rank of a
 * cluster run, and follows the thread when it moves (paper 004, section 3). Without a cluster it is an allocator of
 * one list a thread, freed at once when the thread ends.
 *
 * A block belongs to the thread that allocated it, and is gone when that thread ends. Any thread of the same rank may
 * free it before. What a kernel thread that is no worker allocates belongs to its rank and does not move.
 * `nth/nth.h` says what [thread], [outside] and [any] stand for. */
#ifndef NTH_ISO_H
#define NTH_ISO_H

#include "nth/nth.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* At least `size` bytes, aligned to 16; of size 0 a block that is different from every other. NULL, with errno ENOMEM
 * and a message in nth_last_error, when no rank has slots for it or the kernel refuses memory; EINVAL when the
 * run-time is not up. Blocks of up to 61 KiB come from slots of the thread, larger ones have slots of their own.
 * When this rank has none left it buys from others, and other threads may run meanwhile (not in nth_no_suspend
 * scopes). The paper's pm2_isomalloc, section 3.4. [any, between nth_init and nth_finalize] */
NTH_API void *nth_isomalloc(size_t size) __attribute__((malloc, alloc_size(1), warn_unused_result));

/* Frees a block; NULL is none. A block that was freed before, that is none, or whose thread has ended is a mistake
 * told to the error handler; nothing is changed then. [any, on the rank where the block's thread is] */
NTH_API void nth_isofree(void *block);

/* As realloc: a block that has to move becomes the calling thread's, one that stays where it is stays its thread's; its
 * first bytes are kept. Of NULL:
 * nth_isomalloc. Of size 0: the block is freed, NULL. When it fails, NULL, and the block stays as it was. [any] */
NTH_API void *nth_isorealloc(void *block, size_t size) __attribute__((alloc_size(2), warn_unused_result));

/* As nth_isomalloc, zeroed; an overflow of count * size fails with ENOMEM. [any] */
NTH_API void *nth_isocalloc(size_t count, size_t size)
    __attribute__((malloc, alloc_size(1, 2), warn_unused_result));

/* A block whose address is a multiple of `alignment`, a power of two (else NULL and EINVAL) of up to half of the
 * area. `size` need not be a multiple of it. [any] */
NTH_API void *nth_isoaligned_alloc(size_t alignment, size_t size)
    __attribute__((malloc, alloc_align(1), alloc_size(2), warn_unused_result));

/* Bytes that may be used of a block, at least what was asked for; 0 of NULL, and of what is no block. [any] */
NTH_API size_t nth_isousable_size(const void *block);

/* As nth_isoaligned_alloc, but other threads never run on this worker meanwhile: for callers that hold a lock of the
 * kernel's, as C++ code may; it then waits for other ranks by itself. [any] */
NTH_API void *nth_isoaligned_alloc_here(size_t alignment, size_t size)
    __attribute__((malloc, alloc_align(1), alloc_size(2), warn_unused_result));

/* Slots, as this rank sees them (paper 004, section 3.2). */
typedef struct nth_iso_stats {
  long slot_bytes;
  long slots;           /* of the area, all ranks */
  long slots_owned;     /* by this rank, and free */
  long slots_taken;     /* by threads of this rank, and its own heap */
  long slots_most;      /* the most that were taken at one time */
  long slots_mapped;    /* of those owned, the ones that keep their memory */
  long committed_bytes; /* of the area, made readable and writable here */
} nth_iso_stats;
/* NTH_EINVAL, NTH_ESTATE (run-time not up). [any] */
NTH_API NTH_NODISCARD nth_status nth_get_iso_stats(nth_iso_stats *stats);

/* Which rank owns which slot at the start, for NTH_SLOT_DISTRIBUTION=user: called as owner(slot, slots, ranks), in any
 * order, more than once; the answers, 0 to ranks - 1, must be the same on all ranks and each time, and it may call nothing of nth. Before nth_init or
 * nth_cluster_init. NTH_ESTATE when the run-time is up. (Paper 004, section 4.1.) [outside] */
NTH_API NTH_NODISCARD nth_status nth_set_slot_distribution(int (*owner)(long slot, long slots, int ranks));

#ifdef __cplusplus
}
#endif
#endif
