/* OCEAN: two layers of an ocean basin, as the program of that name in SPLASH-2 has them: each step sets the forcing of each
 * layer from the wind and from the stream functions, and improves these by a V-cycle of multigrid with red-black
 * relaxation. Each thread has neighbouring rows of each grid; all wait for each other behind each pass over a grid. */
#include "heaps.h"

#include "barrier.h"
#include "mistake.h"

#include <math.h>
#include <nth/stack.h>
#include <stdlib.h>
#include <string.h>

enum { layers = 2, most_levels = 12, block = 32 };

struct grid {
  long n;        /* intervals of a side; n + 1 points, the outer ones are zero */
  double *u, *f; /* (n + 1)^2 each: the solution of Laplace u = f */
};

struct layer {
  struct grid level[most_levels]; /* the first is the finest, the last has one inner point */
  double *old;                    /* the stream function before the step */
};

struct ocean {
  struct heaps_order order;
  int levels;
  struct layer layer[layers];
  struct heaps_barrier barrier;
};

const char heaps_name[] = "ocean";
const struct heaps_order heaps_default = {4, 256, 10, 0}; /* 3.8 MiB */

const char *heaps_refusal(const struct heaps_order *order) {
  const long n = order->size;
  return n < 4 || (n & (n - 1)) != 0 || n > 1L << most_levels
             ? "--size is the intervals of a side, a power of two from 4 to 4096"
             : NULL;
}

static double *at(double *values, long n, long i) { return values + i * (n + 1); }

void *heaps_prepare(const struct heaps_order *order) {
  struct ocean *o = heaps_memory(1, sizeof *o);
  o->order = *order;
  for (long n = order->size; n >= 2; n /= 2)
    o->levels++;
  uint64_t seed = 1994;
  for (int k = 0; k < layers; k++) {
    struct layer *layer = &o->layer[k];
    for (int l = 0; l < o->levels; l++) {
      const long n = order->size >> l, points = (n + 1) * (n + 1);
      layer->level[l] = (struct grid){n, heaps_memory((size_t)points, sizeof(double)),
                                      heaps_memory((size_t)points, sizeof(double))};
    }
    const long n = order->size;
    layer->old = heaps_memory((size_t)((n + 1) * (n + 1)), sizeof(double));
    for (long i = 1; i < n; i++)
      for (long j = 1; j < n; j++)
        at(layer->level[0].u, n, i)[j] = heaps_unit(&seed) - 0.5;
  }
  if (order->provoke)
    at(o->layer[1].level[0].u, order->size, 1)[1] = NAN;
  heaps_barrier_init(&o->barrier, order->threads);
  return o;
}

/* What one thread works on. */
struct task {
  struct ocean *o;
  long me;
};

static struct heaps_share rows_of(const struct task *t, long n) {
  return heaps_share_of(1, n, t->me, t->o->order.threads);
}
static void wait_for_all(const struct task *t) { heaps_barrier_wait(&t->o->barrier, t->me); }

static void __attribute__((noinline)) keep_old(const struct task *t, struct layer *layer) {
  const long n = layer->level[0].n;
  const struct heaps_share rows = rows_of(t, n);
  for (long i = rows.first; i < rows.last; i++) {
    double sum = 0;
    double *u = at(layer->level[0].u, n, i), *old = at(layer->old, n, i);
    for (long j = 1; j < n; j++) {
      sum += u[j] * u[j];
      old[j] = u[j];
    }
    if (sum >= 0)
      continue;
    heaps_mistake("a stream function is not a number; set to zero is its row", i);
    memset(u, 0, (size_t)(n + 1) * sizeof *u);
    memset(old, 0, (size_t)(n + 1) * sizeof *old);
  }
}

/* The wind's curl acts on the upper layer; friction pulls each towards the other. */
static void __attribute__((noinline)) force(const struct task *t, int k, long step) {
  const struct layer *mine = &t->o->layer[k], *other = &t->o->layer[1 - k];
  const long n = mine->level[0].n;
  const double h2 = 1.0 / (double)(n * n), pull = 0.1, wind = k == 0 ? 1 : 0;
  const struct heaps_share rows = rows_of(t, n);
  for (long i = rows.first; i < rows.last; i++) {
    const double y = (double)((i + step) % n) / (double)n;
    const double *own = at(mine->old, n, i), *pulling = at(other->old, n, i);
    double *f = at(mine->level[0].f, n, i);
    for (long j = 1; j < n; j++)
      f[j] = h2 * (wind * y * (1 - y) + pull * (pulling[j] - own[j]));
  }
}

/* f - Laplace u, times h^2, of the points first … last of row i. */
static void residual_row(const struct grid *g, long i, long first, long last, double *out) {
  const double *u = at(g->u, g->n, i), *up = u - (g->n + 1), *down = u + (g->n + 1), *f = at(g->f, g->n, i);
  for (long j = first; j <= last; j++)
    out[j - first] = f[j] - (up[j] + down[j] + u[j - 1] + u[j + 1] - 4 * u[j]);
}

static void __attribute__((noinline)) smooth(const struct task *t, const struct grid *g) {
  const struct heaps_share rows = rows_of(t, g->n);
  for (long colour = 0; colour < 2; colour++) {
    for (long i = rows.first; i < rows.last; i++) {
      double *u = at(g->u, g->n, i), *up = u - (g->n + 1), *down = u + (g->n + 1), *f = at(g->f, g->n, i);
      for (long j = 1 + ((i + colour) & 1); j < g->n; j += 2)
        u[j] = (up[j] + down[j] + u[j - 1] + u[j + 1] - f[j]) / 4;
    }
    wait_for_all(t);
  }
}

/* The fine grid's residual, by full weighting, in pieces of three rows: these arrays make the thread's stack large. */
static void __attribute__((noinline))
restrict_residual(const struct task *t, const struct grid *fine, const struct grid *coarse) {
  const struct heaps_share rows = rows_of(t, coarse->n);
  for (long i = rows.first; i < rows.last; i++) {
    memset(at(coarse->u, coarse->n, i), 0, (size_t)(coarse->n + 1) * sizeof(double));
    double *f = at(coarse->f, coarse->n, i);
    for (long first = 1; first < coarse->n; first += block) {
      const long last = first + block < coarse->n ? first + block - 1 : coarse->n - 1;
      double r[3][2 * block + 1];
      for (long k = 0; k < 3; k++)
        residual_row(fine, 2 * i - 1 + k, 2 * first - 1, 2 * last + 1, r[k]);
      for (long j = first; j <= last; j++) {
        const long c = 2 * (j - first) + 1;
        f[j] = (4 * r[1][c] + 2 * (r[0][c] + r[2][c] + r[1][c - 1] + r[1][c + 1]) + r[0][c - 1] +
                r[0][c + 1] + r[2][c - 1] + r[2][c + 1]) /
               4;
      }
    }
  }
}

/* Bilinear: a fine point gets the mean of the coarse points around it. */
static void __attribute__((noinline))
prolong(const struct task *t, const struct grid *fine, const struct grid *coarse) {
  const struct heaps_share rows = rows_of(t, fine->n);
  for (long i = rows.first; i < rows.last; i++) {
    double *u = at(fine->u, fine->n, i);
    const double *above = at(coarse->u, coarse->n, i / 2), *below = at(coarse->u, coarse->n, (i + 1) / 2);
    for (long j = 1; j < fine->n; j++)
      u[j] += (above[j / 2] + above[(j + 1) / 2] + below[j / 2] + below[(j + 1) / 2]) / 4;
  }
}

static void __attribute__((noinline))
v_cycle(const struct task *t, const struct grid *fine, const struct grid *last) {
  NTH_STACK_DEPTH(most_levels); /* heaps_refusal sees to it */
  smooth(t, fine);
  if (fine == last)
    return; /* one inner point, which has been solved */
  restrict_residual(t, fine, fine + 1);
  wait_for_all(t);
  v_cycle(t, fine + 1, last);
  prolong(t, fine, fine + 1);
  wait_for_all(t);
  smooth(t, fine);
}

void heaps_thread(void *state, long me) {
  struct ocean *o = state;
  const struct task t = {o, me};
  heaps_barrier_enter(&o->barrier, me);
  for (long step = 0; step < o->order.steps; step++) {
    for (int k = 0; k < layers; k++)
      keep_old(&t, &o->layer[k]);
    wait_for_all(&t);
    for (int k = 0; k < layers; k++)
      force(&t, k, step);
    wait_for_all(&t);
    for (int k = 0; k < layers; k++)
      v_cycle(&t, o->layer[k].level, o->layer[k].level + o->levels - 1);
  }
}

/* Sum of squares over all layers. */
static double residual_of(const struct ocean *o) {
  double sum = 0;
  for (int k = 0; k < layers; k++) {
    const struct grid *g = &o->layer[k].level[0];
    for (long i = 1; i < g->n; i++)
      for (long j = 1; j < g->n; j++) {
        double r = 0;
        residual_row(g, i, j, j, &r);
        sum += r * r;
      }
  }
  return sum;
}

const char *heaps_wrong(void *state, void *alone) {
  const struct ocean *o = state, *a = alone;
  const long n = o->order.size;
  for (int k = 0; k < layers; k++)
    if (memcmp(o->layer[k].level[0].u, a->layer[k].level[0].u,
               (size_t)((n + 1) * (n + 1)) * sizeof(double)) != 0)
      return "the stream functions are not those of the sequential run";
  struct ocean *start = heaps_prepare(&(struct heaps_order){1, n, 0, 0});
  const double before = residual_of(start);
  heaps_free(start);
  /* A V-cycle lowers it to a tenth and better on grids of some size, and the forcing is far below it at the start. */
  return residual_of(o) < before / 10 ? NULL : "the residual has not become smaller";
}

long heaps_switches(void *state) {
  struct ocean *o = state;
  return atomic_load(&o->barrier.waits);
}

long heaps_bytes(const void *state) {
  const struct ocean *o = state;
  long points = (o->order.size + 1) * (o->order.size + 1); /* of `old` */
  for (int l = 0; l < o->levels; l++)
    points += 2 * (o->layer[0].level[l].n + 1) * (o->layer[0].level[l].n + 1);
  return layers * points * (long)sizeof(double);
}

void heaps_free(void *state) {
  struct ocean *o = state;
  for (int k = 0; k < layers; k++) {
    for (int l = 0; l < o->levels; l++) {
      free(o->layer[k].level[l].u);
      free(o->layer[k].level[l].f);
    }
    free(o->layer[k].old);
  }
  heaps_barrier_free(&o->barrier);
  free(o);
}
