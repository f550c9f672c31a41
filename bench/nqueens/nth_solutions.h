#ifndef NTH_BENCH_NQUEENS_NTH_SOLUTIONS_H
#define NTH_BENCH_NQUEENS_NTH_SOLUTIONS_H

#include "board.h"

#ifdef __cplusplus
extern "C"
#endif
    long
    solutions_nth(const board_t *b);

#endif
