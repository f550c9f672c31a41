/* Fork-join: calls that may run elsewhere. A spawned call costs a record in the frame of its parent and a few
 * instructions; it becomes a thread of its own only if another worker takes it, or if its parent is suspended
 * first. Else nth_sync calls it, on the stack and as part of the thread of its parent.
 *
 *   long fib(long n) {
 *     if (n < 2)
 *       return n;
 *     nth_spawn_record left;
 *     nth_spawn(&left, fib, n - 1);
 *     long right = fib(n - 2);
 *     return nth_sync(&left) + right;
 *   }
 *
 * Parent and child may block. nth/spawn.hpp has the same in line for C++, and for functions that throw.
 *
 * Sources: Mohr, Kranz and Halstead, "Lazy Task Creation" (1991); van Dijk and van de Pol, "Lace: Non-blocking
 * Split Deque for Work-Stealing" (2014). What holds: doc/fork-join.md.
 */
#ifndef NTH_SPAWN_H
#define NTH_SPAWN_H

#include "nth/nth.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One spawned call. It lies in the frame of its parent, which must not end before nth_sync has returned. Its
 * fields are the library's. */
typedef struct nth_spawn_record {
  struct nth_spawn_record *prev;
  struct nth_spawn_record *next;
  long (*function)(long);
  long value; /* the argument, later the result */
  unsigned long state;
} nth_spawn_record;

/* Spawns function(argument). Outside of nano-threads the call is made at the sync.
 * Misuse: NULL. Not detected: a record that is spawned again before its sync. A frame that ends with a record that was
 * not synced is detected at the end of the thread, or of the call of a loop, and only if nobody has taken the call by
 * then; before that it may crash. (nth::spawned, in C++, cannot be forgotten.) [any] */
NTH_API void nth_spawn(nth_spawn_record *record, long (*function)(long), long argument);

/* The result of a spawned call, when it has ended: it is called here if nobody has taken it. A record is synced
 * once, by the thread that spawned it; the youngest first costs least. The function has at least half of a
 * stack (NTH_STACK_SIZE, or of the thread's own class) to itself: what would have less is called on a further
 * one. It must not throw.
 * Between nth_depadd(nth_self(), …) and its nth_block do not sync: a child that is called here may itself wait for
 * dependencies, and a thread has one count of them.
 * Misuse: a record that the caller has not spawned, or has synced; the result is 0 then. A sync by
 * another thread of a call that has been taken is not detected. [any] */
NTH_API long nth_sync(nth_spawn_record *record);

/* What a worker knows of the calls that its running thread has spawned; spawn.hpp works on it in line. */
typedef struct nth_fork {
  nth_spawn_record none;    /* stands for a record where there is none */
  nth_spawn_record *top;    /* the youngest record that nobody else may have; NULL outside of nano-threads */
  nth_spawn_record *bottom; /* the youngest that somebody else has, or &none */
  uintptr_t floor;          /* a child may be called with so many bytes of the stack left */
} nth_fork;

/* Behind it, in a cache line of its own. */
typedef struct nth_fork_watch {
  unsigned request; /* 0 when no other worker wants anything */
  uintptr_t mask;   /* size of the stack, less one */
} nth_fork_watch;

/* For spawn.hpp: of the worker that is this kernel thread; what to call when somebody wants something. */
#if defined(__GNUC__)
extern NTH_API __thread nth_fork *nth_tls_fork __attribute__((tls_model("initial-exec")));
#endif
NTH_API void nth_fork_answer(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* NTH_SPAWN_H */
