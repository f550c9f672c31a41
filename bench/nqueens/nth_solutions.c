/* The C interface. */
#include "nth_solutions.h"

#include <nth/spawn.h>

static long solutions(long board) {
  const board_t *const b = (const board_t *)board;
  if (board_full(b))
    return 1;
  board_t children[BOARD_MOST];
  nth_spawn_record records[BOARD_MOST];
  int tasks = 0;
  for (unsigned open = board_free(b); open != 0; open &= open - 1, ++tasks) {
    children[tasks] = board_put(b, open);
    nth_spawn(&records[tasks], solutions, (long)&children[tasks]);
  }
  long sum = 0;
  while (tasks > 0)
    sum += nth_sync(&records[--tasks]);
  return sum;
}

long solutions_nth(const board_t *b) { return solutions((long)b); }
