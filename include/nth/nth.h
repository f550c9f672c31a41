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
} nth_options;

/* What has been allocated so far (paper 000, table 2: S and D). All are counts but *_bytes. */
typedef struct nth_counters {
  long workers;
  long stacks; /* S: stacks ever allocated; they are used again, never given back before nth_finalize */
  long stacks_unguarded; /* of these, stacks without a guard page */
  long descriptors;      /* D: descriptors ever allocated */
  long descriptors_free; /* of these, not in use now; exact when no thread runs */
  long steals;           /* blocks of ready threads taken from another worker */
  long sleeps;           /* times a worker went to sleep in the kernel */
  long stack_bytes;      /* size of one stack */
  long descriptor_bytes; /* size of one descriptor */
  long reserved_bytes;   /* address space of the area */
  long committed_bytes;  /* of the area, made readable and writable */
} nth_counters;

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
 * becomes no worker. Errors: NTH_EINVAL (an option out of range; nth_last_error names it), NTH_ESTATE
 * (already up, or called in a nano-thread), NTH_ENOMEM, NTH_ESYS. [outside] */
NTH_API NTH_NODISCARD nth_status nth_init(const nth_options *options);

/* Ends the run-time and gives all memory back. NTH_EBUSY when threads are alive: then nothing was
 * changed and the run goes on. NTH_ESTATE when it is not up or the caller is a nano-thread. [outside] */
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

/* Adds n dependencies to a thread that is not enqueued and has not started, or to the caller. "The additional dependency"
 * of nth_depadd(nth_self(), N + 1) (paper 003, section 4.1) is the caller's own: nth_block gives it up
 * after the caller's context is saved, so that the last child cannot resume a thread that still runs.
 * Misuse: n < 0, more than NTH_MAX_DEPENDENCIES, a thread that is enqueued, blocked or has ended. [any] */
NTH_API void nth_depadd(struct nth_desc *thread, long n);

/* Puts a thread in front of the ready queue of worker `which`, or at its end. Threads put by one
 * caller keep their order also when they arrive from another worker.
 * With NTH_BACKLOG a nano-thread that puts too many threads in front of its own worker's queue is suspended
 * there while others run: it should hold no lock of a kernel thread then.
 * Misuse: NULL, unknown worker, a thread that is enqueued already, one with dependencies. [any] */
NTH_API void nth_to_lrq(int which, struct nth_desc *thread);
NTH_API void nth_to_lrq_end(int which, struct nth_desc *thread);

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
