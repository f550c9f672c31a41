/* Where switch.S finds fields of struct worker; thread/worker.hpp asserts it. */
#ifndef NTH_WORKER_OFFSETS_H
#define NTH_WORKER_OFFSETS_H
#define NTH_WORKER_SPECIAL 208
#define NTH_WORKER_LOOP_SP 272
#define NTH_WORKER_ENDED 280
#endif
