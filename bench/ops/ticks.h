/* A clock for phases of some microseconds and more: the time stamp counter where there is one. */
#ifndef NTH_BENCH_OPS_TICKS_H
#define NTH_BENCH_OPS_TICKS_H

#include <stdint.h>
#include <sys/resource.h>
#include <time.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

/* Constant rate, the same on all cores (constant_tsc, nonstop_tsc); not serialising: what is under way when it
 * is read is a few tens of ticks of a phase of 10^4 operations. */
static inline uint64_t ticks(void) {
#if defined(__x86_64__)
  return __rdtsc();
#else
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
#endif
}

/* How often the kernel has taken a core away from a kernel thread of this process. A phase in which it did has
 * the time of other processes in it. */
static inline long cores_taken(void) {
  struct rusage u;
  getrusage(RUSAGE_SELF, &u);
  return u.ru_nivcsw;
}

#endif
