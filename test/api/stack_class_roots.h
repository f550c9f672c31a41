#ifndef STACK_CLASS_ROOTS_H
#define STACK_CLASS_ROOTS_H
void small_waits(long *count);
void small_works(long *count);
struct nth_desc;
/* Initialises a member by the C call with variable arguments. */
void small_init(struct nth_desc *member, void (*root)(), void *word);
void small_calls(long *worst);
void small_allocates(long *worst);
void small_keeps(long *wrong);
void small_creates(long *count);
void small_plain(void);
void small_sums(long *sum, long a, long b, long c, long d, long e);
extern long small_depth;
#endif
