/* The root of the threads that do nothing. It lies in a file of its own, compiled without link-time
 * optimisation, so that no competitor's compiler can see that it does nothing. */
#ifndef NTH_BENCH_EMPTY_ROOT_H
#define NTH_BENCH_EMPTY_ROOT_H

#ifdef __cplusplus
extern "C" {
#endif

/* Counts its runs in a line of the kernel thread that it runs on: for competitors that keep theirs. */
void empty_root(long a, long b);
/* Counts in one shared word: where kernel threads come and go. */
void empty_root_shared(long a, long b);
/* Runs of both so far; exact when none runs. */
long empty_runs(void);

#ifdef __cplusplus
}
#endif

#endif
