/* A frame of this size, which the compiler keeps, at the beginning of a function of `long x`. */
#define FRAME(bytes)                                                                                         \
  volatile char room[bytes];                                                                                 \
  room[x & 7] = (char)x
