/* What a library does that keeps the running thread in a thread_local: a function of its own, since the
 * address must not be kept by its callers. Initial-exec is the cheapest model that a library may use. */
#ifndef NTH_BENCH_SELF_ID_ACCESSOR_H
#define NTH_BENCH_SELF_ID_ACCESSOR_H

#ifdef __cplusplus
extern "C" {
#endif

void *tls_self_linked(void); /* in the program */
void *tls_self_shared(void); /* in a shared library */

#ifdef __cplusplus
}
#endif

#endif
