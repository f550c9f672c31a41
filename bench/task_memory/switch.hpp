// The change from one stack to another, compiled into the place that asks for it: the compiler saves what is
// live there and no more. In the place of ucontext's, as in the paper, which makes a system call each time, and
// of Boost.Context's, which keeps control words of the processor at 5 ns each time: both hide what memory costs.
#ifndef NTH_BENCH_TASK_MEMORY_SWITCH_HPP
#define NTH_BENCH_TASK_MEMORY_SWITCH_HPP

#include "task_memory/task.hpp"

#include <cstdint>

namespace bench::task_memory {

// A stack that does not run, at its saved pointer:   | where to go on | rbp | 128 bytes that may be in use ...
// One that never ran:                                | its entry      | 0: no caller
inline void make_context(context_t &c, void (*entry)(void *)) {
  const auto top = reinterpret_cast<std::uintptr_t>(c.stack + c.stack_size) & ~std::uintptr_t{15};
  auto *words = reinterpret_cast<std::uintptr_t *>(top - 16);
  words[0] = reinterpret_cast<std::uintptr_t>(entry);
  words[1] = 0;
  c.at = words;
}

// Goes on in `to` until somebody goes on in `from`. Returns what that one gave; an entry gets it as argument.
// A jump, not a return, which would be predicted wrongly.
[[gnu::always_inline]] inline void *switch_context(context_t &from, const context_t &to, void *given) {
  void *to_at = to.at;
  void **from_at = &from.at;
  asm volatile("lea -128(%%rsp), %%rsp\n\t" // leaf functions use what lies below their stack pointer
               "push %%rbp\n\t"
               "lea 1f(%%rip), %%rax\n\t"
               "push %%rax\n\t"
               "mov %%rsp, (%[from])\n\t"
               "mov %[to], %%rsp\n\t"
               "pop %%rax\n\t"
               "jmp *%%rax\n"
               "1:\n\t"
               "pop %%rbp\n\t"
               "lea 128(%%rsp), %%rsp"
               : "+D"(given), [from] "+S"(from_at), [to] "+d"(to_at)
               :
               : "rax", "rbx", "rcx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1",
                 "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",
                 "xmm13", "xmm14", "xmm15", "memory", "cc");
  return given;
}

// The same for who never goes on: nothing is saved.
[[noreturn, gnu::always_inline]] inline void leave_for_context(const context_t &to, void *given) {
  asm volatile("mov %[to], %%rsp\n\t"
               "pop %%rax\n\t"
               "jmp *%%rax"
               :
               : [to] "d"(to.at), "D"(given)
               : "memory");
  __builtin_unreachable();
}

} // namespace bench::task_memory

#endif
