/* The calls with variable arguments, from C. */
#ifndef NTH_TEST_BATCH_VARIADIC_H
#define NTH_TEST_BATCH_VARIADIC_H

#include "nth/nth.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Initialises a member with `count` words x, x + 1, … (0 to 7) by nth_batch_create_ls, or nth_batch_create when
 * `many` is not 0. Its root adds up the words times 1, 2, …, and the result to *sum. */
void batch_init_with(struct nth_desc *member, int count, int many, struct nth_desc *succ, long x);
extern long batch_sum;
extern int batch_calls;

#ifdef __cplusplus
}
#endif

#endif
