// What a processor must offer. One assembly file per processor implements these; see x86_64/switch.S for
// what a saved context looks like.
#pragma once

#include "nth/spawn.h"

#include <cstdint>

#if !defined(__x86_64__)
#error "nth: no context switch for this processor yet (src/arch has x86_64)"
#endif

namespace nth::detail {
struct worker;
}

extern "C" {

// Suspends the caller: its context is stored in *save; goes on at `to`, then clears w->busy.
__attribute__((visibility("hidden"))) void nth_arch_enter(void **save, void *to, nth::detail::worker *w);
// drop, below, where tools must be told of the switch.
[[noreturn]] __attribute__((visibility("hidden"))) void nth_arch_drop(void *to, nth::detail::worker *w);
// nth_block and nth_try_block, when the caller must be suspended (suspend.cpp).
__attribute__((visibility("hidden"))) void nth_block_switch(void);
__attribute__((visibility("hidden"))) nth_status nth_try_block_switch(void);
// Suspends the caller until a spawned call has ended; not 0: no memory for that (fork.cpp).
__attribute__((visibility("hidden"))) int nth_wait_spawned(struct nth_spawn_record *record);
// Suspends the caller beneath the newest threads of its worker; end: a queue_end (suspend.cpp).
__attribute__((visibility("hidden"))) void nth_make_way(int end);
// Where fresh contexts begin; never called.
__attribute__((visibility("hidden"))) void nth_arch_entry(void);
// root(a, b, c, d) from a frame at which backtraces and the search for exception handlers end.
__attribute__((visibility("hidden"))) void nth_arch_call_in_place(long a, long b, long c, long d,
                                                                  void (*root)());
// f(argument) on the stack below sp, which nobody uses (worker.hpp, roomy).
__attribute__((visibility("hidden"))) void nth_arch_call_on(void *sp, void (*f)(void *), void *argument);
// Where threads with a stack of their own class begin and end; never called.
__attribute__((visibility("hidden"))) void nth_arch_start(void);
// root(words[0], …, words[n - 1]); at least six words must be readable.
__attribute__((visibility("hidden"))) void nth_arch_call_words(void (*root)(), long n, const long *words);
}

namespace nth::detail::arch {

// Goes on at `to` and never comes back; the stack that is left may be used again from its top. In line: a
// call would leave an entry in the return predictor, and the next return of the resumed thread would miss.
[[noreturn, gnu::always_inline]] inline void drop(void *to, worker *w) noexcept {
#if defined(NTH_ASAN) || defined(NTH_TSAN)
  nth_arch_drop(to, w);
#else
  asm volatile("movq %0, %%rsp\n\t"
               "movl $0, (%1)\n\t"
               "popq %%rcx\n\t"
               "jmp *%%rcx"
               :
               : "a"(to), "d"(w)
               : "memory", "rcx");
  __builtin_unreachable();
#endif
}

// SSE and x87 control words, and their values at the start of a process (psABI 3.2.3).
struct fp_control {
  std::uint32_t mxcsr;
  std::uint16_t x87;
};
constexpr fp_control standard_fp{0x1f80, 0x037f};

inline fp_control read_fp() noexcept {
  fp_control c{};
  asm volatile("stmxcsr %0" : "=m"(c.mxcsr));
  asm volatile("fnstcw %0" : "=m"(c.x87));
  return c;
}
inline void write_fp(fp_control c) noexcept {
  asm volatile("ldmxcsr %0" : : "m"(c.mxcsr));
  asm volatile("fldcw %0" : : "m"(c.x87));
}

// A clock that costs little, of no known unit.
inline std::uint64_t ticks() noexcept { return __builtin_ia32_rdtsc(); }

// The word that stack protectors compare, of this kernel thread (glibc, tcbhead_t: stack_guard).
inline std::uintptr_t canary() noexcept {
  std::uintptr_t word;
  asm volatile("movq %%fs:0x28, %0" : "=r"(word));
  return word;
}
inline void set_canary(std::uintptr_t word) noexcept {
  asm volatile("movq %0, %%fs:0x28" : : "r"(word) : "memory");
}

// Lays a fresh context below `top`, a multiple of 16: it will run `function`, which never returns.
inline void *fresh_context(void *top, void (*function)()) noexcept {
  auto **sp = static_cast<void **>(top) - 2;
  sp[0] = reinterpret_cast<void *>(nth_arch_entry);
  sp[1] = reinterpret_cast<void *>(function);
  return sp;
}

// The same for a thread on a stack of its own class: at `top` lies its stack_top. Its root is called from
// there, so that no byte of the stack is anyone else's.
inline void *start_context(void *top) noexcept {
  auto **sp = static_cast<void **>(top) - 2;
  sp[0] = reinterpret_cast<void *>(nth_arch_start);
  return sp;
}

} // namespace nth::detail::arch
