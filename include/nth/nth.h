/* nth: nano-threads for C, C++ and Fortran. The C interface.
 *
 * A nano-thread ("thread" below) is one 64-byte descriptor; a worker is one kernel thread that runs
 * them. Words passed to a thread's root function are `long`-sized: integers and pointers.
 *
 * Where a call may be made is stated with each one:
 *   [thread]   from inside a nano-thread only
 *   [any]      from inside a nano-thread, or from any kernel thread while the run-time is up
 *   [outside]  from a kernel thread that is no worker
 *
 * Calls that the papers use as statements return void and report misuse through the error handler
 * (nth_set_error_handler; the default prints one message and aborts). All others return a status that
 * the compiler warns about when it is dropped, or a pointer that is NULL with `errno` set.
 *
 * Sources: Venetis and Papatheodorou, "Tying Memory Management to Parallel Programming Models"
 * (Euro-Par 2006), here "paper 000"; Venetis, Papatheodorou and Gao, "Handling Massive Parallelism
 * Efficiently: Introducing Batches of Threads" (CAPSL TM 70, 2006), here "paper 003".
 */
#ifndef NTH_NTH_H
#define NTH_NTH_H

#include "nth/options.h"

#include <stddef.h>
#include <stdint.h>

#define NTH_VERSION_MAJOR 0
#define NTH_VERSION_MINOR 1
#define NTH_VERSION_PATCH 0

#if defined(__GNUC__)
#define NTH_API __attribute__((visibility("default")))
#define NTH_NODISCARD __attribute__((warn_unused_result))
#else
#define NTH_API
#define NTH_NODISCARD
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Limits ------------------------------------------------------------------------------- */

#define NTH_MAX_ARGS 64       /* words a root function may take */
#define NTH_MAX_SUCCESSORS 64 /* successors a thread may be created with */
#define NTH_MAX_WORKERS 1024
#define NTH_MAX_DEPENDENCIES 0x0fffffff /* dependencies a thread may have at one time */

/* ---- Types -------------------------------------------------------------------------------- */

struct nth_desc; /* one nano-thread; 64 bytes, one cache line */

/* A thread and the use of its descriptor that is meant: a descriptor is used again after its thread
 * has ended, and the generation tells a late call from a right one. It has 16 bits, and a handle ends with
 * the run: after another nth_init it may name a new thread. */
typedef struct nth_handle_value { /* the tag differs from nth_handle(): C++ would see it hide a constructor */
  struct nth_desc *thread;
  uint32_t generation;
} nth_handle_t;

typedef enum nth_status {
  NTH_OK = 0,
  NTH_EINVAL = 1,   /* an argument is wrong: null function, unknown worker, negative count */
  NTH_ENOMEM = 2,   /* no memory, or a limit on memory was met; nothing was changed */
  NTH_ESTATE = 3,   /* the call does not fit the state of the run-time or of the thread */
  NTH_EBUSY = 4,    /* threads are alive */
  NTH_ESTALE = 5,   /* the handle's thread has ended */
  NTH_ESYS = 6,     /* the operating system refused; errno says why */
  NTH_EDEADLOCK = 7 /* every worker idles and only blocked threads are left */
} nth_status;

/* What has been allocated so far (paper 000, table 2: S and D). All are counts but *_bytes. */
typedef struct nth_counters {
  long workers;
  long stacks;           /* S: the most stacks that there were at one time, of all sizes */
  long stacks_unguarded; /* of these, stacks without a guard page */
  long descriptors;      /* D: the most descriptors that there were at one time */
  long descriptors_free; /* D less those in use now; exact when no thread runs */
  long steals;           /* blocks of ready threads taken from another worker */
  long steals_remote;    /* of these, blocks taken from a worker of another NUMA node */
  long sleeps;           /* times a worker went to sleep in the kernel */
  long stack_bytes;      /* size of one stack */
  long descriptor_bytes; /* size of one descriptor */
  long reserved_bytes;   /* address space of the area */
  long committed_bytes;  /* of the area, made readable and writable */
} nth_counters;

/* Objects of one kind, by where they are (paper 001, sections 1 and 2):
 *   allocated = in_use + worker + node + global + under_way
 * exactly when no worker runs, nearly at other times. All are counts but `bytes`. */
typedef struct nth_object_stats {
  long bytes;     /* size of one */
  long allocated; /* made, and not given back to the kernel */
  long in_use;    /* of stacks also those on which workers stand */
  long worker;    /* idle, in the lists of workers */
  long node;      /* idle, in the pools of NUMA nodes */
  long global;    /* idle, in the pool of all */
  long under_way; /* idle, in chains on their way home */
  long most;      /* the highest that `allocated` has been */
} nth_object_stats;

#define NTH_STACK_CLASSES 13 /* 256 bytes to 1 MiB */

typedef struct nth_stats {
  nth_counters counters;
  long nodes; /* NUMA nodes that the workers are on */
  long
      nodes_unbound; /* of these, nodes to which memory could not be bound: they have none, or the system refused */
  nth_object_stats descriptors;
  nth_object_stats stacks[NTH_STACK_CLASSES]; /* of 256 << i bytes */
  /* In programs linked with small stacks: segments_switched = segments_taken + segments_kept. */
  long segments_switched; /* calls that had no room on their stack, and were made on a segment */
  long segments_taken;    /* of these, calls for which a stack was taken from the lists, or made */
  long segments_kept;     /* of these, calls on the segment that the worker had left last */
  long segments_most;     /* the most bytes of segments that one thread had at one time */
  long roots_unbounded;   /* roots in the table of needs that have no bound */
  long threads_unbounded; /* threads created with one of them */
} nth_stats;

/* Number of workers of the run (paper 003, figure 4); 0 while the run-time is down. */
extern NTH_API int kthreads;

/* The entry of programs that link with nth-main: main() of that library starts the run-time, runs
 * nth_main as a thread, and ends the run-time. What main was given lies in nth_argc and nth_argv. */
void nth_main();
extern int nth_argc;
extern char **nth_argv;

/* ---- Life cycle --------------------------------------------------------------------------- */

/* Sets every field to its default, then to what the environment says.
 * Returns NTH_EINVAL when an environment variable cannot be read as what it should be; nth_last_error
 * names it, and that field keeps its default. [any] */
NTH_API NTH_NODISCARD nth_status nth_options_init(nth_options *options);

/* Writes the table of options, a line each, to file descriptor `fd`. [any] */
NTH_API void nth_options_print(int fd);

/* Starts the run-time. NULL stands for what nth_options_init gives. The caller stays what it was: it
 * becomes no worker. Errors: NTH_EINVAL (an option out of range, or a
 * placement that this machine or the process's affinity mask does not allow; nth_last_error names it), NTH_ESTATE
 * (already up, or called in a nano-thread), NTH_ENOMEM, NTH_ESYS. [outside] */
NTH_API NTH_NODISCARD nth_status nth_init(const nth_options *options);

/* Ends the run-time and gives all memory back. NTH_EBUSY when threads are alive, those that run or are ready a
 * second later still: then nothing was changed and the run goes on. NTH_ESTATE when it is not up or the caller is a nano-thread. [outside] */
NTH_API NTH_NODISCARD nth_status nth_finalize(void);

/* Runs root(args…) as a thread and returns when it has ended. Threads that it created may live on.
 * NTH_EINVAL, NTH_ENOMEM, NTH_ESTATE (run-time not up, or called in a nano-thread). [outside] */
NTH_API NTH_NODISCARD nth_status nth_run(void (*root)(), int narg, ...);
NTH_API NTH_NODISCARD nth_status nth_run_v(void (*root)(), int narg, const long *args);

/* ---- Threads ------------------------------------------------------------------------------ */

/* The running thread, found from the stack pointer alone (paper 000, section 3); NULL outside of
 * nano-threads. [any] */
NTH_API struct nth_desc *nth_self(void);

/* Makes a thread that will run root(args…) when it has been enqueued and its count of dependencies
 * is zero. One with ndep == 0 is enqueued by the caller; one with ndep > 0 is enqueued by the thread
 * that meets its last dependency. When it ends, the count of each of its successors drops by one.
 *   nth_create     ndep, nsucc, narg, then nsucc successors, then narg words
 *   nth_create_ls  one successor, or NULL ("last successor"; paper 003, figure 4)
 *   …_v            the same with arrays, for callers without variable arguments (Fortran)
 * Words in `…` must have the size of a long: cast what is an int.
 * Returns NULL with errno EINVAL (null root, negative or excessive count, null successor) after the
 * error handler has been told, or NULL with errno ENOMEM, without it. Nothing is half made. [any] */
NTH_API struct nth_desc *nth_create(void (*root)(), int ndep, int nsucc, int narg, ...);
NTH_API struct nth_desc *nth_create_ls(void (*root)(), int ndep, struct nth_desc *succ, int narg, ...);
NTH_API struct nth_desc *nth_create_v(void (*root)(), int ndep, int nsucc, struct nth_desc *const *succ,
                                      int narg, const long *args);
NTH_API struct nth_desc *nth_create_ls_v(void (*root)(), int ndep, struct nth_desc *succ, int narg,
                                         const long *args);

/* ---- Batches (paper 003, section 4.1) -------------------------------------------------------- */

/* Threads that queues handle as one: the cost of an operation is paid once for all of them.
 *
 * nth_batch_get_desc    n threads, linked; returns the first, and the last through `last`. n == 0: NULL and
 *                       NULL. NULL with errno ENOMEM when there is no memory for all of them: then none is kept;
 *                       with errno EINVAL, after the error handler has been told, for n < 0 or a null `last`.
 * nth_batch_create      gives one of them its root, dependencies, successors and arguments: as nth_create
 * nth_batch_create_ls   the same with one successor or NULL: as nth_create_ls. What is wrong with the arguments,
 *                       or a thread that is no member or has been initialised, is told the error handler; so is
 *                       a lack of memory for more than four words or one successor. Then the member is as it was.
 *   …_v                 the same with arrays
 * nth_batch_get_next    the member behind, NULL for the last; also for members that are not initialised
 * nth_batch_to_lrq      a whole batch to the front of the ready queue of worker `which`, the first member first,
 * nth_batch_to_lrq_end  or to its end, the last member last. (NULL, NULL) is an empty batch: nothing is done.
 *                       All members must be initialised and without dependencies, else none is enqueued.
 *                       Misuse as for nth_to_lrq, and a last member that is not the first one's. A batch is enqueued
 *                       once, as a whole. With NTH_BACKLOG the creator may be suspended after it, as by nth_to_lrq.
 * All [any]. */
NTH_API struct nth_desc *nth_batch_get_desc(struct nth_desc **last, long n);
NTH_API void nth_batch_create(struct nth_desc *thread, void (*root)(), int ndep, int nsucc, int narg, ...);
NTH_API void nth_batch_create_ls(struct nth_desc *thread, void (*root)(), int ndep, struct nth_desc *succ,
                                 int narg, ...);
NTH_API void nth_batch_create_v(struct nth_desc *thread, void (*root)(), int ndep, int nsucc,
                                struct nth_desc *const *succ, int narg, const long *args);
NTH_API void nth_batch_create_ls_v(struct nth_desc *thread, void (*root)(), int ndep, struct nth_desc *succ,
                                   int narg, const long *args);
#if defined(__GNUC__) /* one load: the link is the descriptor's first word */
extern __inline__ __attribute__((gnu_inline)) NTH_API struct nth_desc *nth_batch_get_next(
    struct nth_desc *thread) {
#ifdef __cplusplus
  return *reinterpret_cast<nth_desc **>(thread);
#else
  return *(struct nth_desc **)thread;
#endif
}
#else
NTH_API struct nth_desc *nth_batch_get_next(struct nth_desc *thread);
#endif
NTH_API void nth_batch_to_lrq(int which, struct nth_desc *first, struct nth_desc *last);
NTH_API void nth_batch_to_lrq_end(int which, struct nth_desc *first, struct nth_desc *last);

/* Adds n dependencies to a thread that is not enqueued and has not started, or to the caller. "The additional dependency"
 * of nth_depadd(nth_self(), N + 1) (paper 003, section 4.1) is the caller's own: nth_block gives it up
 * after the caller's context is saved, so that the last child cannot resume a thread that still runs.
 * Misuse: n < 0, more than NTH_MAX_DEPENDENCIES, a thread that is enqueued, blocked or has ended. [any] */
NTH_API void nth_depadd(struct nth_desc *thread, long n);

/* Puts a thread in front of the ready queue of worker `which`, or at its end. Threads put by one
 * caller keep their order also when they arrive from another worker.
 * Above NTH_BACKLOG waiting threads a nano-thread that puts one into its own worker's queue may be suspended
 * there while others run, and what it puts to another worker, where threads wait already, joins its own
 * worker's queue. It should hold no lock of a kernel thread then, or put inside of nth_no_suspend.
 * Misuse: NULL, unknown worker, a thread that is enqueued already, one with dependencies. [any] */
NTH_API void nth_to_lrq(int which, struct nth_desc *thread);
NTH_API void nth_to_lrq_end(int which, struct nth_desc *thread);

/* From begin to end, nth_to_lrq and nth_to_lrq_end do not suspend the caller, however many threads wait; what
 * suspends by its nature does so. Scopes nest, belong to the thread and end with it at the latest.
 * Outside of nano-threads, where nothing is suspended, they do nothing. Misuse: an end without a begin, more
 * than 65,535 scopes. [any] */
NTH_API void nth_no_suspend_begin(void);
NTH_API void nth_no_suspend_end(void);

/* Suspends the caller. With dependencies (nth_depadd): gives up its own one and goes on when the
 * count is zero. Without: waits for one nth_unblock, which may have come before.
 * nth_try_block returns NTH_ENOMEM, with nothing changed, when there is no stack for the worker to go
 * on with; nth_block tells the error handler. Another kernel thread than a worker may block on the
 * descriptor that nth_attach gave it. [any, see nth_attach] */
NTH_API void nth_block(void);
NTH_API NTH_NODISCARD nth_status nth_try_block(void);

/* Lets a thread go on that waits in nth_block without dependencies, or will do so next (one such
 * call is remembered, not counted). NTH_ESTALE when the thread has ended. [any] */
NTH_API NTH_NODISCARD nth_status nth_unblock(nth_handle_t handle);

/* Lets other ready threads of this worker run: the caller goes to the end of its ready queue. Does
 * nothing when there is none, or outside of nano-threads. [any] */
NTH_API void nth_yield(void);

/* The handle of a thread that has not ended. {NULL, 0} for NULL. [any] */
NTH_API nth_handle_t nth_handle(struct nth_desc *thread);

/* 1 while the thread has not ended, else 0. [any] */
NTH_API int nth_alive(nth_handle_t handle);

/* Keeps the caller's SSE and x87 control words (rounding, masks, precision) over a switch; by default
 * they belong to the worker. on = 0 takes it back and restores the defaults. [thread] */
NTH_API void nth_keep_fp(int on);

/* ---- Stacks -------------------------------------------------------------------------------- */

/* A thread runs on a stack of NTH_STACK_SIZE bytes, which the scheduler has ready: it costs nothing until the
 * thread blocks. A thread for which one of the following was called gets a stack of its own, of the smallest
 * class that will do: 256 bytes to 1 MiB, powers of two.
 *
 * nth_set_stack_size: `bytes` from 16 KiB to 1 MiB, rounded up to a class. The guard page and up to a kilobyte
 * at the top are part of them. Under policy dos the stack that the thread brings along stays unused.
 *
 * nth_set_stack_need: `need` bytes is what the root and all that it calls may use at most, the return address
 * of the root included, and NTH_CALL_STACK bytes for calls of this library. The class may be as small as 256
 * bytes (192 of them the thread's), without a guard page: the need must be *proved*, by analysis of the
 * linked program, and what calls shared libraries must be linked with -z now.
 *
 * Both: before the thread is enqueued. Errors: NTH_EINVAL (NULL; out of range; the root's object binds calls
 * lazily), NTH_ESTATE (enqueued already). [any] */
NTH_API NTH_NODISCARD nth_status nth_set_stack_size(struct nth_desc *thread, long bytes);
NTH_API NTH_NODISCARD nth_status nth_set_stack_need(struct nth_desc *thread, long need);
/* What these calls, and no others, use of the caller's stack at most, return address included: nth_self,
 * nth_worker, nth_create_ls and the arrays' forms (…_v), nth_depadd, nth_to_lrq, nth_to_lrq_end, nth_block,
 * nth_try_block, nth_yield, nth_unblock, nth_handle, nth_alive, nth_no_suspend_begin and _end,
 * nth_stack_bounds, nth_batch_…, nth_spawn, nth_sync, nth_spawn_n, nth_iso… and the two above. nth_create and
 * nth_batch_create, which have to save their variable arguments, take 2 * NTH_CALL_STACK + 32, and nth_yield_inline
 * takes twice as much. What takes more runs on the scheduler's stack. */
#define NTH_CALL_STACK 160

/* The same for all threads of a root, from its creation on, in programs whose needs have been analysed.
 * may_block = 0 says that the root cannot reach a call that suspends it: it is then run on the scheduler's
 * stack where its need fits, and may be called by a creator that is to make way (NTH_BACKLOG). */
typedef struct nth_stack_need {
  void (*root)();
  long need;     /* bytes, as for nth_set_stack_need */
  int may_block; /* 0: proved not to */
} nth_stack_need;

/* Adds `count` entries to the table of needs, or replaces those of the same roots; it lives as long as the
 * process. Errors: NTH_EINVAL (names the root), NTH_ENOMEM, NTH_ESTATE (the run-time is up). [outside] */
NTH_API NTH_NODISCARD nth_status nth_set_stack_needs(const nth_stack_need *table, long count);

/* The limits of the caller's stack, as collectors and interpreters need them: its lowest usable byte, and
 * the first byte above it. Either may be NULL. NTH_ESTATE outside of nano-threads. [thread] */
NTH_API NTH_NODISCARD nth_status nth_stack_bounds(void **lowest, void **end);

/* ---- Kernel threads that are no workers ---------------------------------------------------- */

/* A descriptor that stands for the calling kernel thread, so that threads can have it as successor and
 * it can wait with nth_depadd and nth_block as a thread does. NULL with errno ENOMEM, EBUSY when it has
 * one, or EINVAL for a nano-thread or while the run-time is down, which the error handler is told. nth_detach gives it back; NTH_ESTATE without one, NTH_EBUSY when dependencies are left. [outside] */
NTH_API struct nth_desc *nth_attach(void);
NTH_API NTH_NODISCARD nth_status nth_detach(void);

/* ---- Queries -------------------------------------------------------------------------------- */

NTH_API int nth_workers(void); /* workers of the run; 0 while it is down [any] */
NTH_API int nth_worker(
    void); /* the worker that runs the caller, or -1; may change when the caller suspends [any] */
NTH_API nth_policy nth_stack_policy(void);                                 /* [any] */
NTH_API NTH_NODISCARD nth_status nth_get_counters(nth_counters *counters); /* NTH_ESTATE while down [any] */

/* The same, and what lies idle where. NTH_ESTATE while down. [any] */
NTH_API NTH_NODISCARD nth_status nth_get_stats(nth_stats *stats);
/* Writes them to file descriptor `fd` as one JSON object on one line; nothing while the run-time is down. With
 * NTH_STATS=1 nth_finalize does so to standard error. [any] */
NTH_API void nth_write_stats(int fd);

/* Writes a line for each thread that is blocked or waits for dependencies: descriptor, root, count.
 * Returns their number. Exact when no thread runs. [any] */
NTH_API long nth_report_blocked(int fd);

/* ---- Errors --------------------------------------------------------------------------------- */

/* Called with a status and a sentence that names what is wrong and what to do. The library may be in the
 * middle of its work: a handler notes, ends the program, or leaves to others what to do about it; of this
 * interface it may call nth_report_blocked and nth_last_error, and for NTH_EDEADLOCK nth_unblock. When a handler returns,
 * the call that failed has had no effect. NULL brings back the default: print and abort. Returns the
 * handler that was set before, NULL for the default. [any] */
typedef void (*nth_error_handler)(nth_status status, const char *message);
NTH_API nth_error_handler nth_set_error_handler(nth_error_handler handler);

NTH_API const char *nth_strstatus(nth_status status);
/* The last message of this kernel thread; "" if there was none. [any] */
NTH_API const char *nth_last_error(void);

#ifdef __cplusplus
} /* extern "C" */

#include "nth/functions.hpp" /* overloads that take any function pointer */
#endif

#endif /* NTH_NTH_H */
