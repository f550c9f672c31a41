// What cc1 compiles in the runs under callgrind.
#include <stddef.h>
#include <stdint.h>

struct node {
  struct node *left, *right;
  int key;
  double value;
};

static struct node *rotate(struct node *n) {
  struct node *l = n->left;
  n->left = l->right;
  l->right = n;
  return l;
}

double sum(const struct node *n) { return n == NULL ? 0 : n->value + sum(n->left) + sum(n->right); }

struct node *insert(struct node *n, struct node *fresh) {
  if (n == NULL)
    return fresh;
  struct node **side = fresh->key < n->key ? &n->left : &n->right;
  *side = insert(*side, fresh);
  return n->left != NULL && n->left->key > n->key ? rotate(n) : n;
}

void multiply(double *restrict c, const double *a, const double *b, int n) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double s = 0;
      for (int k = 0; k < n; ++k)
        s += a[i * n + k] * b[k * n + j];
      c[i * n + j] = s;
    }
}

uint32_t hash(const char *s) {
  uint32_t h = 2166136261U;
  for (; *s != '\0'; ++s)
    switch (*s & 7) {
    case 0:
      h = (h ^ 3U) * 16777619U;
      break;
    case 1:
      h += h << 5;
      break;
    case 5:
      h = ~h;
      break;
    default:
      h = (h ^ (uint32_t)*s) * 16777619U;
    }
  return h;
}
