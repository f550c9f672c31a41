/* The C interface. */
#include "nth_visit.h"

#include <nth/spawn.h>
#include <stdio.h>
#include <stdlib.h>

struct child {
  nth_spawn_record record;
  const uts_node *parent;
  int i;
  uts_count below;
};

static long visit_child(long argument) {
  struct child *const c = (struct child *)argument;
  const uts_node node = uts_child(c->parent, c->i);
  c->below = visit_nth(&node);
  return 0;
}

/* Apart, so that the frame of a visit to a leaf is small. */
static uts_count visit_children(const uts_node *node, int n) {
  uts_count sum = {1, 0, node->depth};
  struct child frame[UTS_IN_FRAME], *children = frame;
  if (n > UTS_IN_FRAME && (children = malloc((size_t)n * sizeof *children)) == NULL) {
    fprintf(stderr, "uts: no memory\n");
    _Exit(1);
  }
  for (int i = 0; i < n; i++) {
    children[i].parent = node;
    children[i].i = i;
    nth_spawn(&children[i].record, visit_child, (long)&children[i]);
  }
  for (int i = n - 1; i >= 0; i--) {
    (void)!nth_sync(&children[i].record);
    uts_add(&sum, &children[i].below);
  }
  if (children != frame)
    free(children);
  return sum;
}

uts_count visit_nth(const uts_node *node) {
  const int n = uts_children(node);
  if (n > 0)
    return visit_children(node, n);
  const uts_count leaf = {1, 1, node->depth};
  return leaf;
}
