/* The trees of the Unbalanced Tree Search: Olivier, Huan, Liu, Prins, Dinan, Sadayappan, Tseng, "UTS: An Unbalanced
 * Tree Search Benchmark" (LCPC 2006). A node is 160 bits; child i of a node is the SHA-1 of the node's bits and i, and
 * how many children a node has follows from its last 31 bits: the tree is the same whoever visits it in which order. */
#ifndef NTH_BENCH_UTS_TREE_H
#define NTH_BENCH_UTS_TREE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum uts_kind {
  UTS_GEOMETRIC_FIXED, /* geometric with mean `root_children`, to depth `deepest`; option -t 1 -a 3 of the original */
  UTS_BINOMIAL /* `children` with probability q, else none; the root has `root_children`; option -t 0 */
} uts_kind;

typedef struct uts_tree {
  const char *name;
  uts_kind kind;
  double root_children; /* b0 */
  int deepest;          /* d */
  double q;
  int children; /* m */
  int seed;     /* r */
  long nodes, leaves;
  int depth; /* of the lowest node */
} uts_tree;

typedef struct uts_node {
  const uts_tree *tree;
  int depth;
  uint32_t state[5];
} uts_node;

/* Of a node and all below it. */
typedef struct uts_count {
  long nodes, leaves;
  int depth;
} uts_count;

uts_node uts_root(const uts_tree *tree);
uts_node uts_child(const uts_node *parent, int i);
int uts_children(const uts_node *node);

static inline void uts_add(uts_count *sum, const uts_count *more) {
  sum->nodes += more->nodes;
  sum->leaves += more->leaves;
  if (sum->depth < more->depth)
    sum->depth = more->depth;
}

/* Children whose counts lie in the frame of the visit of their parent; those of a node with more lie on the heap. */
#define UTS_IN_FRAME 8

#ifdef __cplusplus
}
#endif

#endif
