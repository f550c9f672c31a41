/* The program whose time the model of paper 003, section 3, predicts. */
#ifndef NTH_BENCH_MODEL_MASTER_H
#define NTH_BENCH_MODEL_MASTER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct model_order {
  long n;
  long work; /* ticks that each thread works; 0: it does nothing */
  int meet;  /* first all other workers are met, each on its core, so that none is asleep or kept from it */
  uint64_t create; /* ticks until all are created and enqueued; out */
  uint64_t total;  /* ticks until all have ended; out */
  int disturbed;   /* the kernel took a core away meanwhile; out */
};

/* A root: creates n threads one by one, thread i for worker i mod P, and blocks until all have ended. */
void model_master(struct model_order *order);
/* Ticks between the first and the last look at the clock of each thread that worked, all together; when none runs. */
uint64_t model_worked(void);
/* Ticks of n calls of the same root by the caller: what it takes beside that. */
uint64_t model_work(long n, long work);

#ifdef __cplusplus
}
#endif

#endif
