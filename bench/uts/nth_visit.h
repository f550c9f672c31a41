#ifndef NTH_BENCH_UTS_NTH_VISIT_H
#define NTH_BENCH_UTS_NTH_VISIT_H

#include "tree.h"

#ifdef __cplusplus
extern "C"
#endif
    uts_count
    visit_nth(const uts_node *node);

#endif
