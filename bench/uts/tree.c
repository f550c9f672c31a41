#include "tree.h"

#include <math.h>
#include <nettle/sha1.h>
#include <string.h>

#define MOST_CHILDREN 100 /* of a node that is not a binomial tree's root: MAXNUMCHILDREN of the original */

/* SHA-1 of up to 24 bytes, which with their padding are one block. Nettle's function for a block takes 59 ns here and
 * its usual three calls 68, OpenSSL's three 64 and its one-call SHA1() 420, libgcrypt's one call 88. */
static void sha1_short(const uint8_t *bytes, unsigned count, uint32_t digest[5]) {
  static const uint32_t initial[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  uint8_t block[SHA1_BLOCK_SIZE] = {0};
  memcpy(block, bytes, count);
  block[count] = 0x80;
  block[SHA1_BLOCK_SIZE - 1] = (uint8_t)(count * 8);
  memcpy(digest, initial, sizeof initial);
  nettle_sha1_compress(digest, block);
}

static void put_word(uint8_t *bytes, uint32_t word) {
  word = __builtin_bswap32(word); /* the processor's order is the other one */
  memcpy(bytes, &word, sizeof word);
}

uts_node uts_root(const uts_tree *tree) {
  uts_node root = {tree, 0, {0}};
  uint8_t bytes[20] = {0};
  put_word(bytes + 16, (uint32_t)tree->seed);
  sha1_short(bytes, sizeof bytes, root.state);
  return root;
}

uts_node uts_child(const uts_node *parent, int i) {
  uts_node child = {parent->tree, parent->depth + 1, {0}};
  uint8_t bytes[24];
  for (int w = 0; w < 5; w++)
    put_word(bytes + 4 * w, parent->state[w]);
  put_word(bytes + 20, (uint32_t)i);
  sha1_short(bytes, sizeof bytes, child.state);
  return child;
}

int uts_children(const uts_node *node) {
  const uts_tree *const t = node->tree;
  const double uniform = (double)(node->state[4] & 0x7fffffff) / 2147483648.0;
  if (t->kind == UTS_BINOMIAL) {
    if (node->depth == 0)
      return (int)floor(t->root_children);
    return uniform < t->q ? t->children : 0;
  }
  if (node->depth >= t->deepest)
    return 0;
  const double p = 1.0 / (1.0 + t->root_children);
  const int n = (int)floor(log(1.0 - uniform) / log(1.0 - p));
  return n < MOST_CHILDREN ? n : MOST_CHILDREN;
}
