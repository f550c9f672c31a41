/* Where assembly finds fields of struct worker and struct stack_top; thread/worker.hpp and memory/stack.hpp assert it. */
#ifndef NTH_WORKER_OFFSETS_H
#define NTH_WORKER_OFFSETS_H
#define NTH_WORKER_SPECIAL 208
#define NTH_WORKER_LOOP_SP 272
#define NTH_WORKER_ENDED 280
#define NTH_WORKER_LIMITS 288
#define NTH_WORKER_EDGE 1056
#define NTH_WORKER_FORK_FLOOR 1336
#define NTH_WORKER_FORK_MASK 1352

/* Of edge_of_stack. */
#define NTH_EDGE_KEPT 8
#define NTH_EDGE_UNDER 16
#define NTH_EDGE_UNDER_LOWEST 24
#define NTH_EDGE_UNDER_BYTES 32
#define NTH_EDGE_SEGMENT 40
#define NTH_EDGE_LEAST 48
#define NTH_EDGE_SPAN 56
#define NTH_EDGE_BEGIN 64
#define NTH_EDGE_UNITS 72
#define NTH_EDGE_MOST 76
#define NTH_EDGE_HITS 80
#define NTH_EDGE_OF_UNDER 88
#define NTH_EDGE_OF_SEGMENT 136
#define NTH_BOUNDS_MASK 32
#define NTH_BOUNDS_FLOOR 40

#define NTH_STACK_NEXT 0
#define NTH_STACK_SEGMENTS 44
#define NTH_STACK_ABOVE 48
#define NTH_STACK_THREAD 56
#endif
