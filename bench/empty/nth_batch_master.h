#ifndef NTH_BENCH_EMPTY_NTH_BATCH_MASTER_H
#define NTH_BENCH_EMPTY_NTH_BATCH_MASTER_H

#include "nth_master.h"

#ifdef __cplusplus
extern "C" {
#endif

void empty_batch_master(struct empty_order *order, long batch);

#ifdef __cplusplus
}
#endif

#endif
