/* What the parts of the program share. */
#pragma once

#include "nth/nth.h"

#include <stddef.h>

typedef void (*any_root)(void);

/* `text` to standard error, and the end: exit status 1. */
_Noreturn void wrong(const char *text, const char *detail, long number);
void expect(int holds, const char *text, long number);
void start(void); /* nth_init by the environment; ends the program when it fails */
void finish(void);

/* Makes `count` threads that are all blocked at one time, if there is memory for so many, and wakes them. Every
 * third has a stack of a class of its own when `classes` is not 0. Returns how many could not block. */
long block_many(long count, int classes);
/* Makes `count` threads that do next to nothing, and waits for them; counts those that ran. */
void run_many(long count);

/* Of /proc/self: a line of status in kB; the number of mappings. */
long status_kib(const char *name);
long mappings(void);

/* The modes, each by its name in the command line. */
int mode_taken(void);
int mode_full(void);
int mode_leak(void);
int mode_values(void);
