/* MP3D: a rarefied gas, as the program of that name in SPLASH has it: particles fly through a space of cells, and those
 * that meet in a cell collide. Each thread has a share of the particles and a share of the cells; all wait for each
 * other behind each of the three parts of a step. The space is periodic, so momentum and energy are kept. */
#include "heaps.h"

#include "barrier.h"
#include "mistake.h"

#include <math.h>
#include <stdlib.h>

enum { side = 16, cells = side * side * side };

struct particle {
  double at[3]; /* in sides of a cell, 0 <= at < side */
  double speed[3];
  long next; /* particle in the same cell, -1: none */
};

struct cell {
  atomic_long first; /* the last particle that came, -1: none */
  long collisions;
};

struct mp3d {
  struct heaps_order order;
  struct particle *particles;
  struct cell *space;
  struct heaps_barrier barrier;
};

const char heaps_name[] = "mp3d";
const struct heaps_order heaps_default = {4, 3500, 1200, 0}; /* 255 KiB */

const char *heaps_refusal(const struct heaps_order *order) {
  return order->size < 1 ? "--size is the number of particles, from 1 on" : NULL;
}

void *heaps_prepare(const struct heaps_order *order) {
  struct mp3d *m = heaps_memory(1, sizeof *m);
  m->order = *order;
  m->particles = heaps_memory((size_t)order->size, sizeof m->particles[0]);
  m->space = heaps_memory(cells, sizeof m->space[0]);
  uint64_t seed = 1994;
  for (long i = 0; i < order->size; i++)
    for (int axis = 0; axis < 3; axis++) {
      m->particles[i].at[axis] = side * heaps_unit(&seed);
      m->particles[i].speed[axis] = heaps_unit(&seed) - 0.5 + (axis == 0);
    }
  for (long c = 0; c < cells; c++)
    atomic_init(&m->space[c].first, -1);
  if (order->provoke)
    m->particles[0].at[1] = NAN;
  heaps_barrier_init(&m->barrier, order->threads);
  return m;
}

/* Where the particle is after the step; false: nowhere in the space. */
static int fly(struct particle *p) {
  int inside = 1;
  for (int axis = 0; axis < 3; axis++) {
    double x = p->at[axis] + p->speed[axis];
    x -= side * floor(x / side);
    x = x == side ? 0 : x; /* what was less than zero by a rounding */
    inside &= x >= 0 && x < side;
    p->at[axis] = x;
  }
  return inside;
}

static void __attribute__((noinline)) move(struct mp3d *m, struct heaps_share mine) {
  for (long i = mine.first; i < mine.last; i++) {
    struct particle *p = &m->particles[i];
    if (!fly(p)) {
      heaps_mistake("set to the origin is a particle that has left the space, number", i);
      p->at[0] = p->at[1] = p->at[2] = 0;
    }
    const long c = ((long)p->at[0] * side + (long)p->at[1]) * side + (long)p->at[2];
    p->next = atomic_exchange_explicit(&m->space[c].first, i, memory_order_relaxed);
  }
}

/* The relative speed's components change places and signs at random: the sum of the speeds and that of their squares stay
 * (Baganoff and McDonald, "A collision-selection rule for a particle simulation method", Physics of Fluids A 2, 1990). */
static void collide_pair(struct particle *p, struct particle *q, uint64_t random) {
  double mean[3], half[3];
  for (int axis = 0; axis < 3; axis++) {
    mean[axis] = (p->speed[axis] + q->speed[axis]) / 2;
    half[axis] = (p->speed[axis] - q->speed[axis]) / 2;
  }
  const int turn = (int)(random % 3);
  for (int axis = 0; axis < 3; axis++) {
    const double size = half[(axis + turn) % 3];
    const double turned = random >> (8 + axis) & 1 ? size : -size;
    p->speed[axis] = mean[axis] + turned;
    q->speed[axis] = mean[axis] - turned;
  }
}

static void __attribute__((noinline)) collide(struct mp3d *m, struct heaps_share mine, long step) {
  for (long c = mine.first; c < mine.last; c++) {
    long i = atomic_load_explicit(&m->space[c].first, memory_order_relaxed);
    uint64_t seed = (uint64_t)(step * cells + c);
    while (i >= 0 && m->particles[i].next >= 0) {
      const long j = m->particles[i].next;
      collide_pair(&m->particles[i], &m->particles[j], heaps_random(&seed));
      m->space[c].collisions++;
      i = m->particles[j].next;
    }
  }
}

static void __attribute__((noinline)) clear(struct mp3d *m, struct heaps_share mine) {
  for (long c = mine.first; c < mine.last; c++)
    atomic_store_explicit(&m->space[c].first, -1, memory_order_relaxed);
}

void heaps_thread(void *state, long me) {
  struct mp3d *m = state;
  const struct heaps_share particles = heaps_share_of(0, m->order.size, me, m->order.threads);
  const struct heaps_share own_cells = heaps_share_of(0, cells, me, m->order.threads);
  heaps_barrier_enter(&m->barrier, me);
  for (long step = 0; step < m->order.steps; step++) {
    move(m, particles);
    heaps_barrier_wait(&m->barrier, me);
    collide(m, own_cells, step);
    heaps_barrier_wait(&m->barrier, me);
    if (step + 1 < m->order.steps) { /* what is left of the last step is checked */
      clear(m, own_cells);
      heaps_barrier_wait(&m->barrier, me);
    }
  }
}

struct sums {
  double momentum[3], energy;
};

static struct sums sums_of(const struct mp3d *m) {
  struct sums s = {{0, 0, 0}, 0};
  for (long i = 0; i < m->order.size; i++)
    for (int axis = 0; axis < 3; axis++) {
      const double v = m->particles[i].speed[axis];
      s.momentum[axis] += v;
      s.energy += v * v;
    }
  return s;
}

static const char *wrong_sums(const struct mp3d *m) {
  struct mp3d *start = heaps_prepare(&(struct heaps_order){1, m->order.size, 0, 0});
  const struct sums before = sums_of(start), after = sums_of(m);
  heaps_free(start);
  const double little = 1e-10 * before.energy;
  for (int axis = 0; axis < 3; axis++)
    if (!(fabs(after.momentum[axis] - before.momentum[axis]) <= little))
      return "momentum is not conserved";
  return fabs(after.energy - before.energy) <= little ? NULL : "energy is not conserved";
}

/* Each particle is in the list of the cell where it flies, and in no other. */
static const char *wrong_cells(struct mp3d *m) {
  long found = 0;
  for (long c = 0; c < cells && m->order.steps > 0; c++)
    for (long i = atomic_load(&m->space[c].first); i >= 0; i = m->particles[i].next) {
      const double *x = m->particles[i].at;
      if (((long)x[0] * side + (long)x[1]) * side + (long)x[2] != c)
        return "a particle is in the list of another cell than its own";
      if (++found > m->order.size)
        return "a cell's list has no end";
    }
  return found == m->order.size || m->order.steps == 0 ? NULL : "particles got lost";
}

static long collisions_of(const struct mp3d *m) {
  long sum = 0;
  for (long c = 0; c < cells; c++)
    sum += m->space[c].collisions;
  return sum;
}

/* Threads come to a cell in any order, so who collides with whom is not that of the sequential run; what is kept is. */
const char *heaps_wrong(void *state, void *alone) {
  const char *wrong = wrong_cells(state);
  if (wrong == NULL)
    wrong = wrong_sums(state);
  if (wrong == NULL)
    wrong = wrong_sums(alone);
  if (wrong == NULL && (collisions_of(state) > 0) != (collisions_of(alone) > 0))
    wrong = "particles collide in one of the threads' and the sequential run alone";
  return wrong;
}

long heaps_switches(void *state) {
  struct mp3d *m = state;
  return atomic_load(&m->barrier.waits);
}

long heaps_bytes(const void *state) {
  const struct mp3d *m = state;
  return m->order.size * (long)sizeof m->particles[0] + cells * (long)sizeof m->space[0];
}

void heaps_free(void *state) {
  struct mp3d *m = state;
  heaps_barrier_free(&m->barrier);
  free(m->particles);
  free(m->space);
  free(m);
}
