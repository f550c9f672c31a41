#ifndef NTH_BENCH_CREATE_JOIN_NTH_MASTER_H
#define NTH_BENCH_CREATE_JOIN_NTH_MASTER_H

#ifdef __cplusplus
extern "C"
#endif
    void
    create_join_master(long n);

#endif
