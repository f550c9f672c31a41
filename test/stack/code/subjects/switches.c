/* Jumps that compilers make of C, each with a case that is easily missed. */
#define CASE(n)                                                                                              \
  __attribute__((noinline)) void case_##n(int x) { __asm__ volatile("" ::"r"(x)); }                          \
  struct of_case_##n
CASE(0);
CASE(1);
CASE(2);
CASE(3);
CASE(5);
CASE(7);

__attribute__((noinline)) void after_holes(int x) {
  volatile char room[400];
  room[x & 7] = 1;
}

__attribute__((noinline)) int no_default(unsigned i, int x) {
  switch (i) {
  case 0:
    case_0(x);
    return 1;
  case 1:
    case_1(x);
    return 5;
  case 2:
    case_2(x);
    return 7;
  case 3:
    case_3(x);
    return 9;
  case 5:
    case_5(x);
    return 3;
  case 7:
    case_7(x);
    return 11;
  case 9:
    after_holes(x);
    return 12;
  default:
    __builtin_unreachable();
  }
}

__attribute__((noinline)) int local_labels(unsigned i, int x) {
  void *volatile labels[] = {&&first, &&second};
  goto *labels[i & 1];
first:
  case_0(x);
  return 1;
second:
  after_holes(x);
  return 2;
}

int main(int n, char **v) {
  (void)v;
  return no_default((unsigned)n, n) + local_labels((unsigned)n, n);
}
