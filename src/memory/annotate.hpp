// What tools must be told of our stacks: AddressSanitizer, ThreadSanitizer, Valgrind. Without them all of
// it is empty. Compiled without instrumentation, for it runs between two stacks; switch.S calls
// nth_annotate_departure before it leaves a stack and nth_annotate_arrival on the next one.
#pragma once

#include <cstdint>

namespace nth::detail {

struct stack_top;

namespace annotate {

#if defined(NTH_ASAN) || defined(NTH_TSAN)
constexpr bool on = true; // each change of stacks must be told
#else
constexpr bool on = false;
#endif

#if defined(NTH_ASAN) || defined(NTH_TSAN) || defined(NTH_VALGRIND)
void new_stack(stack_top *top, std::uintptr_t bottom) noexcept; // a stack exists: [bottom, top)
void forget_stack(stack_top *top) noexcept;                     // it is about to be unmapped
void begin_worker() noexcept;                                   // on the kernel thread's own stack
void fresh_context(stack_top *top) noexcept;                    // a context begins on an unused stack
#else
inline void new_stack(stack_top *, std::uintptr_t) noexcept {}
inline void forget_stack(stack_top *) noexcept {}
inline void begin_worker() noexcept {}
inline void fresh_context(stack_top *) noexcept {}
#endif

} // namespace annotate
} // namespace nth::detail
