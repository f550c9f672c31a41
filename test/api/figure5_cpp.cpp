/* clang-format off */
/* The program of figure5.c, compiled as C++; its batches leave no remainder. */
#define FIGURE5_BATCH 8
#include "figure5.c"
