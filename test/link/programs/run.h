/* Runs work() on the kernel's stack, or, with a number of threads as its argument, in so many threads at once. */
#ifndef RUN_H
#define RUN_H

#include <stdio.h>

#ifdef __cplusplus
extern "C"
#endif
    void
    work(FILE *to);

#endif
