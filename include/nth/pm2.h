/* The names of paper 004, section 3.4, over nth/iso.h: programs of PM2 compile with them. */
#ifndef NTH_PM2_H
#define NTH_PM2_H

#include "nth/iso.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As nth_isomalloc and nth_isofree. [any] */
static inline void *pm2_isomalloc(size_t size) { return nth_isomalloc(size); }
static inline void pm2_isofree(void *addr) { nth_isofree(addr); }

#ifdef __cplusplus
}
#endif
#endif
