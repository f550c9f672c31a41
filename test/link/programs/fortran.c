/* work() of the Fortran program. */
#include "run.h"

void compute(double values[4]);

void work(FILE *to) {
  double values[4];
  compute(values);
  fprintf(to, "%.12f %.0f %.12f %.0f\n", values[0], values[1], values[2], values[3]);
}
