/* What the program of paper 003, figure 4 leaves open: how many threads, which arguments, and the work. */
#ifndef NTH_TEST_FIGURE4_H
#define NTH_TEST_FIGURE4_H

#include "nth/nth.h"

static const long NumOfThreads = 100000;
static const long Arg1 = 20061009;
static const long Arg2 = -70;

#ifdef __cplusplus
extern "C" {
#endif

void nth_main();

/* figure4_check.c: counts a call with the right arguments. */
void figure4_work(long first, long second);
/* Ends the process with status 1 unless every thread has done its work. */
void figure4_check(void);

#ifdef __cplusplus
}
#endif

#endif
