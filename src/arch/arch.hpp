// What a processor must offer. One assembly file per processor implements these; see x86_64/switch.S for
// what a saved context looks like.
#pragma once

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
// Goes on at `to` and never comes back; the stack that is left may be used again from its top.
[[noreturn]] __attribute__((visibility("hidden"))) void nth_arch_drop(void *to, nth::detail::worker *w);
// Suspends the caller beneath the newest threads of its worker (suspend.cpp).
__attribute__((visibility("hidden"))) void nth_make_way(void);
// Entries of fresh contexts; never called.
__attribute__((visibility("hidden"))) void nth_arch_loop_entry(void);
__attribute__((visibility("hidden"))) void nth_arch_thread_entry(void);
// root(words[0], …, words[n - 1]); at least six words must be readable.
__attribute__((visibility("hidden"))) void nth_arch_call_words(void (*root)(), long n, const long *words);
}

namespace nth::detail::arch {

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

// Lays a fresh context below `top`, aligned as the entries need it: sp a multiple of 16.
inline void *fresh_context(void *top, void (*entry)()) noexcept {
  auto *sp = reinterpret_cast<void **>(reinterpret_cast<std::uintptr_t>(top) & ~std::uintptr_t{15}) - 2;
  sp[0] = reinterpret_cast<void *>(entry);
  return sp;
}

} // namespace nth::detail::arch
