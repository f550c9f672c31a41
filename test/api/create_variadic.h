/* Calls of nth_create and nth_create_ls with variable arguments, as a C program makes them. */
#ifndef NTH_TEST_CREATE_VARIADIC_H
#define NTH_TEST_CREATE_VARIADIC_H

#include "nth/nth.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CREATE_COUNTS 8
/* Counts of arguments on both sides of what goes in registers, and the largest. */
extern const int create_counts[CREATE_COUNTS];

/* A thread with create_counts[which] arguments base, base + 1, …, which notes what it got in create_seen. */
struct nth_desc *create_with(int which, struct nth_desc *successor, long base);
struct nth_desc *create_ls_with(int which, struct nth_desc *successor, long base);
extern long create_seen[NTH_MAX_ARGS];
extern int create_seen_count;

/* A thread that lowers three others, and has two arguments. */
struct nth_desc *create_with_three_successors(struct nth_desc *a, struct nth_desc *b, struct nth_desc *c);

#ifdef __cplusplus
}
#endif

#endif
