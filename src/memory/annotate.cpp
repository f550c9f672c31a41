#include "memory/annotate.hpp"

#if defined(NTH_ASAN) || defined(NTH_TSAN) || defined(NTH_VALGRIND)

#include "memory/stack.hpp"

#ifdef NTH_ASAN
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef NTH_TSAN
#include <sanitizer/tsan_interface.h>
#endif
#ifdef NTH_VALGRIND
#include <valgrind/valgrind.h>
#endif

namespace nth::detail::annotate {

namespace {

// The kernel thread's own stack, which no stack_top describes.
struct kernel_stack {
  void *fiber;
  void *fake_stack;
  const void *bottom;
  std::size_t size;
};
[[maybe_unused]] __thread kernel_stack own __attribute__((tls_model("initial-exec")));
#ifdef NTH_TSAN
// The fiber of a stack that was dropped; destroyed on the next stack, for a fiber cannot destroy itself.
[[maybe_unused]] __thread void *dead_fiber __attribute__((tls_model("initial-exec")));
#endif
// The stack that was left, for its bounds: AddressSanitizer tells them on arrival.
__thread bool left_kernel __attribute__((tls_model("initial-exec")));
// The routine found nothing to switch to.
__thread bool stays __attribute__((tls_model("initial-exec")));

} // namespace

void new_stack(stack_top *top, std::uintptr_t bottom) noexcept {
#ifdef NTH_VALGRIND
  top->valgrind_id = VALGRIND_STACK_REGISTER(bottom, reinterpret_cast<std::uintptr_t>(top + 1));
#endif
  static_cast<void>(top);
  static_cast<void>(bottom);
}

void forget_stack(stack_top *top) noexcept {
#ifdef NTH_VALGRIND
  VALGRIND_STACK_DEREGISTER(top->valgrind_id);
#endif
#ifdef NTH_TSAN
  if (top->fiber != nullptr)
    __tsan_destroy_fiber(top->fiber);
#endif
  static_cast<void>(top);
}

void begin_worker() noexcept {
#ifdef NTH_TSAN
  own.fiber = __tsan_get_current_fiber();
#endif
  left_kernel = true;
}

void fresh_context(stack_top *top) noexcept {
#ifdef NTH_ASAN
  top->fake_stack = nullptr;
#endif
#ifdef NTH_TSAN
  if (top->fiber == nullptr)
    top->fiber = __tsan_create_fiber(0);
#endif
  static_cast<void>(top);
}

} // namespace nth::detail::annotate

using namespace nth::detail;
using namespace nth::detail::annotate;

extern "C" __attribute__((visibility("hidden"))) void nth_annotate_departure(void *to_sp, int dropped) {
  const auto from = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  const auto to = reinterpret_cast<std::uintptr_t>(to_sp);
  stack_top *const here = on_stack(from) ? top_of(from) : nullptr;
  stack_top *const there = on_stack(to) ? top_of(to) : nullptr;
  static_cast<void>(dropped);
  stays = here == there; // nothing else was ready, or a kernel thread that is no worker has waited
  if (stays)
    return;
#ifdef NTH_ASAN
  void **keep = dropped != 0 ? nullptr : here != nullptr ? &here->fake_stack : &own.fake_stack;
  left_kernel = here == nullptr;
  if (there != nullptr)
    __sanitizer_start_switch_fiber(keep, reinterpret_cast<void *>(stack_bottom(there)), stack_size_of(there));
  else
    __sanitizer_start_switch_fiber(keep, own.bottom, own.size);
#endif
#ifdef NTH_TSAN
  if (dropped != 0 && here != nullptr) {
    dead_fiber = here->fiber;
    here->fiber = nullptr;
  }
  // What runs on one kernel thread is ordered, whatever stack it runs on: the worker's own data rely on it.
  __tsan_switch_to_fiber(there != nullptr ? there->fiber : own.fiber, 0);
#endif
}

// Clears the worker's busy word, which the assembly leaves to this function when there are tools to tell.
// NOLINTNEXTLINE(readability-non-const-parameter): the builtin writes to it
extern "C" __attribute__((visibility("hidden"))) void nth_annotate_arrival(std::uint32_t *busy) {
#ifdef NTH_ASAN
  if (!stays) {
    const auto sp = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    const void *bottom = nullptr;
    std::size_t size = 0;
    __sanitizer_finish_switch_fiber(on_stack(sp) ? top_of(sp)->fake_stack : own.fake_stack, &bottom, &size);
    if (left_kernel) {
      own.bottom = bottom;
      own.size = size;
    }
  }
#endif
#ifdef NTH_TSAN
  if (dead_fiber != nullptr) {
    __tsan_destroy_fiber(dead_fiber);
    dead_fiber = nullptr;
  }
  __tsan_release(busy);
#endif
  __atomic_store_n(busy, 0, __ATOMIC_RELEASE);
}

#endif
