/* One function of each way to pass and to return. */
#include <complex.h>
#include <stdarg.h>

struct pair {
  long a, b;
};
struct large {
  char bytes[40];
};
enum color { red, green };
typedef const enum color shade;
typedef int (*callback)(int);
typedef float vector __attribute__((vector_size(16)));

int of_int(int a, char b, short c, unsigned long d) { return a + b + c + (int)d; }
void of_pointers(void *a, const char *b, callback c) { *(int *)a = c(*b); }
double of_floats(float a, double b) { return (double)a + b; }
long double of_long_double(long double a) { return a + 1; }
struct pair of_struct(struct pair a, struct large *b) {
  return (struct pair){a.b, b->bytes[0]};
}
struct large of_large(struct large a) {
  return a;
}
shade of_enum(enum color a, _Bool b) { return b ? a : red; }
double complex of_complex(float complex a) { return a; }
vector of_vector(vector a) { return a + a; }
int of_any_number(const char *format, ...) {
  va_list list;
  va_start(list, format);
  const int x = va_arg(list, int);
  va_end(list);
  return x;
}
int of_old_style() { return 1; }
static __attribute__((noinline)) int hidden(int a, int *unused) { return a + 1; }
int (*volatile use)(int, int *) = hidden;

int main(void) { return use(1, 0) + hidden(2, 0); }
