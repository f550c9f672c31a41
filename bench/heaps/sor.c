/* RB: red-black successive over-relaxation of Laplace's equation on a square. Each thread has neighbouring rows; after
 * the points of each colour all wait for each other. */
#include "heaps.h"

#include "barrier.h"
#include "mistake.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct sor {
  struct heaps_order order;
  long row;     /* numbers of a row */
  double *grid; /* size + 1 rows; the outer points are given */
  struct heaps_barrier barrier;
};

const char heaps_name[] = "sor";
const struct heaps_order heaps_default = {4, 180, 1000, 0}; /* 256 KiB */
static const double omega = 1.5;

const char *heaps_refusal(const struct heaps_order *order) {
  return order->size < 2 ? "--size is the intervals of a side, from 2 on" : NULL;
}

void *heaps_prepare(const struct heaps_order *order) {
  struct sor *s = heaps_memory(1, sizeof *s);
  s->order = *order;
  s->row = order->size + 1;
  s->grid = heaps_memory((size_t)(s->row * s->row), sizeof(double));
  uint64_t seed = 1994;
  for (long i = 0; i < s->row * s->row; i++)
    s->grid[i] = heaps_unit(&seed);
  if (order->provoke)
    s->grid[s->row + 1] = NAN;
  heaps_barrier_init(&s->barrier, order->threads);
  return s;
}

/* The inner points of one colour in a row. -> the sum of their squared residuals: not a number if one of them is not. */
static double relax_row(double *row, long stride, long first) {
  double sum = 0;
  for (long j = first; j < stride - 1; j += 2) {
    const double residual = row[j - stride] + row[j + stride] + row[j - 1] + row[j + 1] - 4 * row[j];
    row[j] += omega / 4 * residual;
    sum += residual * residual;
  }
  return sum;
}

static void __attribute__((noinline)) relax(struct sor *s, struct heaps_share rows, long colour) {
  for (long i = rows.first; i < rows.last; i++) {
    double *row = s->grid + i * s->row;
    const long first = 1 + ((i + colour) & 1);
    if (relax_row(row, s->row, first) >= 0)
      continue;
    heaps_mistake("a residual is not a number; set to zero are the points of one colour in row", i);
    for (long j = first; j < s->row - 1; j += 2) /* others read those of the other colour now */
      row[j] = 0;
  }
}

void heaps_thread(void *state, long me) {
  struct sor *s = state;
  const struct heaps_share rows = heaps_share_of(1, s->order.size, me, s->order.threads);
  heaps_barrier_enter(&s->barrier, me);
  for (long step = 0; step < s->order.steps; step++)
    for (long colour = 0; colour < 2; colour++) {
      relax(s, rows, colour);
      heaps_barrier_wait(&s->barrier, me);
    }
}

static double residual_of(const double *grid, long row) {
  double sum = 0;
  for (long i = 1; i < row - 1; i++)
    for (long j = 1; j < row - 1; j++) {
      const double *p = grid + i * row + j;
      const double residual = p[-row] + p[row] + p[-1] + p[1] - 4 * p[0];
      sum += residual * residual;
    }
  return sum;
}

const char *heaps_wrong(void *state, void *alone) {
  const struct sor *s = state, *a = alone;
  if (memcmp(s->grid, a->grid, (size_t)(s->row * s->row) * sizeof(double)) != 0)
    return "the grid is not that of the sequential run";
  struct sor *start = heaps_prepare(&(struct heaps_order){1, s->order.size, 0, 0});
  const double before = residual_of(start->grid, s->row);
  heaps_free(start);
  return residual_of(s->grid, s->row) < before ? NULL : "the residual has not become smaller";
}

long heaps_switches(void *state) {
  struct sor *s = state;
  return atomic_load(&s->barrier.waits);
}

long heaps_bytes(const void *state) {
  const struct sor *s = state;
  return s->row * s->row * (long)sizeof(double);
}

void heaps_free(void *state) {
  struct sor *s = state;
  heaps_barrier_free(&s->barrier);
  free(s->grid);
  free(s);
}
