/* clang-format off */
/* The program of figure4.c, compiled as C++. */
#include "figure4.h"

/*****/

void nth_func(long Arg1, long Arg2)
{
    /* Work performed by each thread */
    figure4_work(Arg1, Arg2);
}

/*****/

void nth_main()
{
    long          i;
    struct nth_desc *nth, *nth_myself = nth_self();

    nth_depadd(nth_myself, NumOfThreads + 1);
    for (i = 0; i < NumOfThreads; i++) {
        nth = nth_create_ls(nth_func, 0, nth_myself, 2, Arg1, Arg2);
        nth_to_lrq(i % kthreads, nth);
    }
    nth_block();
}

/*****/
