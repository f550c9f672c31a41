/* What a program linked with small stacks says to the run-time: the interface between nth-stack, which writes it, and
 * libnth, which reads it. Not for users; doc/small-stacks.md tells how it works.
 *
 * The program carries, from an object that nth-stack generates:
 *   .nth_stubs    slots of NTH_STUB_SIZE bytes of code, one a stub, behind them __morestack (src/growth/x86_64/)
 *   .nth_growth   the structures below, read-only; all places are bytes from the header, so nothing is relocated
 *   nth_stack_limits   thread-local words, one for each threshold
 *   .init_array   a call of nth_growth_register
 *
 * A stub, entered as the callee would be (arguments in place, rsp at the return address):
 *
 *     [endbr64]                            only in programs that are marked for IBT
 *     cmpq   %fs:limit_i, %rsp
 *     jae    target
 *     call   __morestack
 *     ret
 *
 * limit_i is the lowest rsp, at the entry of a function, with which a need of thresholds[i] bytes still fits the
 * stack: lowest usable byte + thresholds[i] - 8. 0 outside of nano-threads.
 * Source: Grunwald, "Heaps o' Stacks" (CU-CS-750-94), section 2.1, figure 1(d): "paper 002".
 */
#ifndef NTH_GROWTH_H
#define NTH_GROWTH_H

#define NTH_GROWTH_MAGIC "nthgrow1" /* without its end */
#define NTH_STUB_SIZE 32
#define NTH_STUB_LIMITS 4 /* thresholds at most */
#define NTH_STUB_STACK                                                                                       \
  256 /* bytes below rsp at a stub's entry that __morestack may use before it has switched */
/* Copied from above the return address where the caller is not in the table of sites, as far as its stack reaches:
 * libnth calls a root with up to NTH_MAX_ARGS words. */
#define NTH_STUB_UNKNOWN_ARGUMENTS 2048

#ifndef __ASSEMBLER__

#include "nth/nth.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct nth_growth_header {
  char magic[8];
  uint32_t filled;                      /* 0: as the assembler left it; 1: by nth-stack */
  uint32_t limits;                      /* thresholds in use; >= 1 */
  uint32_t thresholds[NTH_STUB_LIMITS]; /* bytes, ascending; a stub uses the lowest that covers its need */
  uint32_t stubs;                       /* in use, from the first slot on */
  uint32_t stub_room;
  uint32_t needs;
  uint32_t need_room;
  uint32_t sites;
  uint32_t site_room;
  uint32_t text_room; /* bytes */
  int32_t pool;       /* where the first slot is */
  int32_t stub_at;    /* nth_growth_stub[], one a slot */
  int32_t need_at;    /* nth_growth_need[], sorted by function */
  int32_t site_at;    /* nth_growth_site[], sorted by return_to */
  int32_t text_at;    /* reasons, each ended by 0 */
} nth_growth_header;

/* nth_growth_stub::flags */
#define NTH_STUB_ENTRY 1 /* reached through pointers to the function */
/* The callee's need has no bound: `need` is the least, and a guard page must lie below. */
#define NTH_STUB_GUARDED 2
/* The target is longjmp or of its kind (its first argument is the jmp_buf). Such a stub has neither cmpq nor jae: it
 * always calls __morestack, which jumps on when libnth knows which segments are left. */
#define NTH_STUB_LONGJMP 4
/* With NTH_STUB_LONGJMP: the target is setcontext, or swapcontext; its first or second argument is where it goes. */
#define NTH_STUB_SETCONTEXT 16
#define NTH_STUB_SWAPCONTEXT 32
/* The stub stands for a function that is loaded while the program runs: `target` is the jump through the word that holds
 * it, 0 as long as the stub is free. */
#define NTH_STUB_LOADED 64
#define NTH_LOADED_FUNCTIONS 128 /* such stubs, in a program that calls dlsym */
#define NTH_STUB_BY_SITE 8 /* how much of its caller's stack it may read is found by the return address */

typedef struct nth_growth_stub {
  uint32_t need; /* bytes of the callee and all that it calls on its segment, its return address included */
  uint32_t take; /* bytes for it where a segment is taken: >= need (paper 002, figure 1(e)) */
  uint32_t arguments; /* bytes above the return address that it may read; not with NTH_STUB_BY_SITE */
  int32_t target;
  uint32_t flags;
} nth_growth_stub;

/* nth_growth_need::flags */
#define NTH_NEED_BLOCKS 1    /* the function may suspend its thread */
#define NTH_NEED_ASSUMED 2   /* rests on what neither analysis nor nth makes sure of, the reason */
#define NTH_NEED_UNBOUNDED 4 /* has no bound, for the reason given; `need` says nothing */
#define NTH_NEED_GUARDED 8   /* bounded itself, but calls what has no bound, on a segment with a guard page */

typedef struct nth_growth_need {
  int32_t function; /* or its stub: whichever address the program has of it */
  uint32_t need;    /* bytes, return address included */
  uint32_t flags;
  uint32_t reason; /* in text; where it is unbounded, guarded or assumed */
} nth_growth_need;

typedef struct nth_growth_site {
  int32_t
      return_to;  /* of a call through a pointer, or of one that such a call may be reached from by jumps */
  uint32_t depth; /* bytes from above the pushed return address to the end of the caller's frame */
} nth_growth_site;

/* Reads the tables; before nth_init, by .init_array. `limits`: offset of nth_stack_limits from the thread pointer.
 * Prints what is wrong with them and ends the program if they are not as described here. */
NTH_API void nth_growth_register(const nth_growth_header *program, long limits);

/* For __morestack alone, whose frame rbp is, with room for all integer registers; they change rax, rcx, rdx and rdi,
 * and no other register at all. Where to call the target, or NULL: the target, which is in the frame then, is to be
 * jumped to, on the same stack. */
NTH_API void *nth_growth_enter(const nth_growth_header *program);
NTH_API void nth_growth_leave(void);
/* The personality routine of its frame, with _Unwind_GetCFA and _Unwind_GetGR of the unwinder that calls it. */
NTH_API int nth_growth_personality(int version, int actions, uint64_t exception_class, void *exception,
                                   void *context, uintptr_t (*get_cfa)(void *),
                                   uintptr_t (*get_register)(void *, int));

/* sigaction, signal (bsd_signal, ssignal), sysv_signal and sigset, of which a patched program's calls are led here: a
 * handler runs on the alternate stack (SA_ONSTACK), which each worker has; what is read back says so. All else is as
 * the C library has it, but that siginterrupt has no effect on a later nth_growth_signal. */
struct sigaction;
NTH_API int nth_growth_sigaction(int number, const struct sigaction *action, struct sigaction *before);
NTH_API void (*nth_growth_signal(int number, void (*handler)(int)))(int);
NTH_API void (*nth_growth_sysv_signal(int number, void (*handler)(int)))(int);
NTH_API void (*nth_growth_sigset(int number, void (*disposition)(int)))(int);
/* dlsym, whose answer is a stub if it is code that is no part of the program: that runs on a segment with a guard page. The
 * same address has the same stub; beyond NTH_LOADED_FUNCTIONS the answer is dlsym's. */
NTH_API void *nth_growth_dlsym(void *handle, const char *name);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* __ASSEMBLER__ */
#endif /* NTH_GROWTH_H */
