/* A board with queens in its upper rows, as bits a column, seen from the next row. */
#ifndef NTH_BENCH_NQUEENS_BOARD_H
#define NTH_BENCH_NQUEENS_BOARD_H

#define BOARD_MOST 16 /* columns */

typedef struct board_t {
  unsigned all;                  /* one bit for each column */
  unsigned columns, left, right; /* attacked: straight, and along each diagonal */
} board_t;

static inline unsigned board_free(const board_t *b) { return b->all & ~(b->columns | b->left | b->right); }

/* With one more queen, in the lowest of the columns in `free_columns`. */
static inline board_t board_put(const board_t *b, unsigned free_columns) {
  const unsigned bit = free_columns & (0U - free_columns);
  const board_t next = {b->all, b->columns | bit, (b->left | bit) << 1, (b->right | bit) >> 1};
  return next;
}

static inline int board_full(const board_t *b) { return b->columns == b->all; }

#endif
