/* The error routine that each of the paper's programs could call and none did: it "required ≈ 12,000 bytes", so that
 * "we modified the forward call to that routine to allocate a new stack segment" (section 5.1). */
#ifndef NTH_BENCH_HEAPS_MISTAKE_H
#define NTH_BENCH_HEAPS_MISTAKE_H

#define HEAPS_MISTAKE_FRAME 12000

/* Says on standard error what was found and where. The routine runs on a stack of its own: another thread's, which the
 * caller waits for. With HEAPS_DIRECT_CALL it is an ordinary call, for programs linked so that it gets a segment.
 * Outside of nano-threads, in the sequential run that repeats what the threads did, nothing is said. */
void heaps_mistake(const char *what, long where);

long heaps_mistakes(void); /* reported so far */

#endif
