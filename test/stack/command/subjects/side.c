/* The shared library that linked.cpp calls. Each function has a frame of its own size, so that a call taken for
 * another shows in the needs. */
#include "frame.h"

__attribute__((noinline)) static long inner(long x) {
  FRAME(1000);
  return room[x & 7];
}
long side(long x) {
  FRAME(2000);
  return inner(x) + room[0];
}
long side_tail(long x) {
  FRAME(3000);
  return room[x & 7];
}
long side_pointer(long x) {
  FRAME(4000);
  return room[x & 7];
}
long side_first(long x) {
  FRAME(5000);
  return room[x & 7];
}
long side_second(long x) {
  FRAME(6000);
  return room[x & 7];
}

/* Copied into programs of fixed addresses. */
long (*const side_table[2])(long) = {side_first, side_second};
