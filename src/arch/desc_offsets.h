/* What entries.S knows of struct nth_desc; thread/descriptor.hpp asserts it. */
#ifndef NTH_DESC_OFFSETS_H
#define NTH_DESC_OFFSETS_H
#define NTH_DESC_NEXT 0
#define NTH_DESC_ROOT 8
#define NTH_DESC_SUCC 16
#define NTH_DESC_NDEP 24
#define NTH_DESC_STATE 30 /* and flags */
#define NTH_DESC_ARGS 32
#define NTH_DESC_CREATED 1 /* state and flags */
#define NTH_DESC_MEMBER 7  /* the same, of a common member */
#define NTH_MOST_DEPENDENCIES 0x0fffffff
#endif
