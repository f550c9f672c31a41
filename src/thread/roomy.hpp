// Calls from stacks of a few hundred bytes: what is more than a fast path runs on the scheduler's stack.
#pragma once

#include "arch/arch.hpp"
#include "thread/worker.hpp"

#include <type_traits>

namespace nth::detail {

// f(), on the scheduler's stack when the running thread has a stack of its own class: the suspended loop's
// stack is free below its context. A caller that is there already stays. Not inlined where it is called, for
// it would add its frame to that of the caller.
template <class F>
inline auto roomy([[maybe_unused]] worker *w, F f) noexcept -> decltype(f()) {
#if defined(NTH_ASAN) || defined(NTH_TSAN)
  return f(); // no class is small there
#else
  using result = decltype(f());
  const auto loop = reinterpret_cast<std::uintptr_t>(w->loop_sp);
  if (w->special != special_class || (stack_pointer() & ~stack_last) == (loop & ~stack_last)) [[likely]]
    return f();
  if constexpr (std::is_void_v<result>) {
    nth_arch_call_on(
        w->loop_sp, [](void *g) noexcept { (*static_cast<F *>(g))(); }, &f);
  } else {
    struct call {
      F *function;
      result value;
    } c{&f, {}};
    const auto run = [](void *g) noexcept {
      auto *it = static_cast<call *>(g);
      it->value = (*it->function)();
    };
    nth_arch_call_on(w->loop_sp, run, &c);
    return c.value;
  }
#endif
}

} // namespace nth::detail
