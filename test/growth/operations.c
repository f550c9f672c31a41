/* operations <operation> <n>: n calls of one kind on one worker, for callgrind to count (../gate/instructions.py). A call
 * and its loop are 4 instructions: call, ret, dec, jnz. */
#include <nth/nth.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void (*root_function)();

uintptr_t here(void);
uintptr_t stub_here(void);
uintptr_t stub_less(void);
void call_often(uintptr_t rsp, uintptr_t (*function)(void), long n);

static long default_size;

static void near_the_end(uintptr_t (*function)(void), long n, long room) {
  void *lowest;
  if (nth_stack_bounds(&lowest, NULL) != NTH_OK)
    abort();
  call_often((uintptr_t)lowest + (uintptr_t)room - 8, function, n);
}

/* On a stack of the default class, where the lowest eighth and a page are kept for nth. */
static void near_the_end_of_default(uintptr_t (*function)(void), long n, long room) {
  near_the_end(function, n, (default_size / 8 + 4096) + room);
}

static const struct operation {
  const char *name;
  void (*root)(uintptr_t (*function)(void), long n, long room);
  uintptr_t (*function)(void);
  long room; /* stub_here asks for 512 bytes; stub_less for 608, by a limit of 1024 */
} operations[] = {{"direct", near_the_end, here, 800},
                  {"room", near_the_end, stub_here, 512},
                  {"jump_on", near_the_end, stub_less, 608},
                  {"switch", near_the_end, stub_here, 496},
                  {"jump_on_default", near_the_end_of_default, stub_less, 608},
                  {"switch_default", near_the_end_of_default, stub_here, 496}};

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  nth_options options;
  if (nth_options_init(&options) != NTH_OK)
    return 2;
  options.workers = 1;
  options.bind = 0;
  options.spin_us = 0;
  options.guard = 0;
  options.stack_size = default_size = 64 << 10;
  for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
    const struct operation *o = &operations[i];
    if (strcmp(argv[1], o->name) != 0)
      continue;
    /* A stack of a class of its own: nth_stack_bounds tells its lowest byte, and all of it is the program's. */
    const nth_stack_need small = {(root_function)near_the_end, 1900, 1};
    if (nth_set_stack_needs(&small, 1) != NTH_OK || nth_init(&options) != NTH_OK ||
        nth_run((root_function)o->root, 3, o->function, atol(argv[2]), o->room) != NTH_OK ||
        nth_finalize() != NTH_OK) {
      fprintf(stderr, "%s\n", nth_last_error());
      return 1;
    }
    return 0;
  }
  return 2;
}
