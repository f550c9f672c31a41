#ifndef NTH_BENCH_EMPTY_NTH_MASTER_H
#define NTH_BENCH_EMPTY_NTH_MASTER_H

#ifdef __cplusplus
extern "C" {
#endif

struct empty_order {
  long n, window;
  double ns;
};

void empty_master(struct empty_order *order);

#ifdef __cplusplus
}
#endif

#endif
