// Packs and unpacks what it reads, at each level.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

int main(void) {
  static unsigned char from[1 << 18], packed[1 << 19], back[1 << 18];
  const size_t size = fread(from, 1, sizeof from, stdin);
  for (int level = 0; level <= 9; ++level) {
    uLongf packed_size = sizeof packed, back_size = sizeof back;
    if (compress2(packed, &packed_size, from, size, level) != Z_OK ||
        uncompress(back, &back_size, packed, packed_size) != Z_OK || memcmp(from, back, size) != 0)
      return 1;
    printf("%d: %lu\n", level, packed_size);
  }
  return 0;
}
