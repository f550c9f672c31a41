/* Runs a function on a painted stack and says how deep it wrote: `mark` bytes below its CFA, return address included.
 * Two paints, so that a byte that happens to equal one of them is seen with the other. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifndef STACK_BYTES
#define STACK_BYTES (1 << 19)
#endif
enum { stack_bytes = STACK_BYTES };

static unsigned char *the_stack(void) {
  static unsigned char *base;
  if (base == NULL) {
    base =
        (unsigned char *)mmap(NULL, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED)
      abort();
    mprotect(base, 4096, PROT_NONE);
  }
  return base;
}

__attribute__((noinline)) static void call_on(void (*root)(void), unsigned char *top) {
  __asm__ volatile("movq %%rsp, %%rbx\n\t"
                   "movq %[top], %%rsp\n\t"
                   "call *%[root]\n\t"
                   "movq %%rbx, %%rsp"
                   :
                   : [root] "r"(root), [top] "r"(top)
                   : "rbx", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc",
                     "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
                     "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}

static long run_painted(void (*root)(void), unsigned char paint) {
  unsigned char *low = the_stack() + 4096;
  unsigned char *top = the_stack() + stack_bytes - 256;
  memset(low, paint, (size_t)(top - low));
  call_on(root, top);
  while (low < top && *low == paint)
    ++low;
  return (long)(top - low);
}

/* Prints the name and the largest mark over arguments 0 to 15, and `most`. */
static void measure(const char *name, void (*root)(void), long *argument, long most) {
  long mark = 0;
  for (int i = 0; i <= 16; ++i) {
    *argument = i < 16 ? i : most;
    for (int k = 0; k < 2; ++k) {
      const long m = run_painted(root, k ? 0xa5 : 0x5a);
      mark = m > mark ? m : mark;
    }
  }
  printf("%s %ld\n", name, mark);
}
