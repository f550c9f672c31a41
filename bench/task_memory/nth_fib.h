#ifndef NTH_BENCH_TASK_MEMORY_NTH_FIB_H
#define NTH_BENCH_TASK_MEMORY_NTH_FIB_H

#ifdef __cplusplus
extern "C" {
#endif

/* Threads that have run, one count a worker, each on a line of its own. */
struct fib_count {
  long runs;
  char rest_of_line[64 - sizeof(long)];
};

/* To be called by a thread: computes fib(n) in further threads and waits for them. */
long nth_fib(long n, struct fib_count *counts);

#ifdef __cplusplus
}
#endif

#endif
