#include "program.h"

void lapack_numbers(long n, double *found);
void lapack_text(double x, char *text);

void prepare(void) {}

void work(struct text *out, long size) {
  for (long i = 0; i < size; ++i) {
    double found[6];
    lapack_numbers(40 + i % 40, found);
    let_others_run();
    for (int k = 0; k < 6; ++k) {
      char text[32];
      lapack_text(found[k], text);
      say(out, "%a %.32s\n", found[k], text);
    }
  }
}
