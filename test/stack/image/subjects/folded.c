/* Two functions of the same code and different signatures. */
void of_pointer(char *p) { __asm__ volatile("nop" : : "r"(p)); }
void of_number(long n) { __asm__ volatile("nop" : : "r"(n)); }
void (*volatile a)(char *) = of_pointer;
void (*volatile b)(long) = of_number;

int main(void) {
  a(0);
  b(0);
  return 0;
}
