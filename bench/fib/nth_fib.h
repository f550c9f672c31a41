#ifndef NTH_BENCH_FIB_NTH_FIB_H
#define NTH_BENCH_FIB_NTH_FIB_H

#ifdef __cplusplus
extern "C"
#endif
    long
    fib_nth(long n);

#endif
