/* Programs made of code that knows nothing of nano-threads: each runs `work` in many of them and compares what they say. */
#ifndef HEAPS_PROGRAM_H
#define HEAPS_PROGRAM_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a thread says. */
struct text {
  char *bytes;
  size_t length, room;
};

/* As printf; ends the program where there is no memory. */
__attribute__((format(printf, 2, 3))) void say(struct text *out, const char *format, ...);
/* What is too long to say: its length, both ends and a hash. */
void say_long(struct text *out, const char *name, const char *bytes, size_t length);

/* Of each program, the same for each thread: `size` times its work, whose results do not depend on addresses or time. */
void work(struct text *out, long size);
/* Before the threads; what the library wants done once. */
void prepare(void);
/* Lets other threads run; called by `work` where it is deep inside of the library. */
void let_others_run(void);

#ifdef __cplusplus
}
#endif

#endif
