/* What the program of paper 003, figure 5 leaves open beyond figure 4: the size of a batch, and nth_func. */
#ifndef NTH_TEST_FIGURE5_H
#define NTH_TEST_FIGURE5_H

#include "figure4.h"

#include <stddef.h>

#ifndef FIGURE5_BATCH
#define FIGURE5_BATCH 7 /* leaves a remainder */
#endif
static const long BatchSize = FIGURE5_BATCH;

static void nth_func(long first, long second) { figure4_work(first, second); }

#endif
