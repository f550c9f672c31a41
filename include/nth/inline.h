/* nth_yield in line, for loops in which a switch must cost as little as it can: the compiler saves only
 * the registers that are live, and each place has a jump of its own, which the processor predicts well.
 * [any], as nth_yield. The frame that yields cannot be unwound while it is suspended here; use nth_yield
 * where a debugger is to see it. On other processors than x86-64, and under sanitizers, it is nth_yield. */
#ifndef NTH_INLINE_H
#define NTH_INLINE_H

#include "nth/nth.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__SANITIZE_ADDRESS__) &&                            \
    !defined(__SANITIZE_THREAD__)

#ifdef __PIC__
#define NTH_INLINE_CALL "call nth_pick_yield@PLT\n\t"
#else
#define NTH_INLINE_CALL "call nth_pick_yield\n\t"
#endif

#ifdef __AVX512F__
#define NTH_INLINE_AVX512                                                                                    \
  "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26",         \
      "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k1", "k2", "k3", "k4", "k5", "k6", "k7",
#else
#define NTH_INLINE_AVX512
#endif

/* A suspended context is a stack pointer, a multiple of 16, at which lies the address to continue at; see
 * src/arch/x86_64/switch.S. 128 bytes are skipped for the red zone of the caller. rbx and rbp, which some
 * compilers reserve, are saved by hand. Of the caller's stack it takes 160 bytes more than nth_yield: 320. */
__attribute__((always_inline)) static inline void nth_yield_inline(void) {
  __asm__ volatile("movq %%rsp, %%rax\n\t"
                   "subq $160, %%rsp\n\t"
                   "andq $-16, %%rsp\n\t"
                   "movq %%rax, 24(%%rsp)\n\t"
                   "movq %%rbp, 16(%%rsp)\n\t"
                   "movq %%rbx, 8(%%rsp)\n\t"
                   "leaq 1f(%%rip), %%rax\n\t"
                   "movq %%rax, (%%rsp)\n\t"
                   "movq %%rsp, %%rdi\n\t" NTH_INLINE_CALL "movq %%rax, %%rsp\n\t"
                   "movl $0, (%%rdx)\n\t"
                   "popq %%rcx\n\t"
                   "jmp *%%rcx\n"
                   "1:\tmovq (%%rsp), %%rbx\n\t"
                   "movq 8(%%rsp), %%rbp\n\t"
                   "movq 16(%%rsp), %%rsp\n\t"
                   :
                   :
                   : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
                     "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
                     "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "st", "st(1)", "st(2)", "st(3)", "st(4)",
                     "st(5)", "st(6)", "st(7)", NTH_INLINE_AVX512 "memory", "cc");
}

#undef NTH_INLINE_CALL
#undef NTH_INLINE_AVX512

#else

static inline void nth_yield_inline(void) { nth_yield(); }

#endif

#endif /* NTH_INLINE_H */
