// What __morestack (x86_64/morestack.S) and libnth have in common beside nth/growth.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nth::detail {

// The frame of __morestack, from its lowest named word on; the address that it hands over is that of saved_rbp.
struct growth_frame {
  const void *target;
  std::uintptr_t r11, r10, r9, r8, rdi, rsi, rdx, rcx, rax;
  std::uintptr_t saved_rbp;
  std::uintptr_t stub_return; // within the stub that was called
  std::uint64_t return_to;    // in the code that called the stub; rsp was here then

  // What the callee may have on the stack.
  const std::uint64_t *arguments() const noexcept { return &return_to + 1; }

  static growth_frame *of(void *rbp) noexcept {
    return reinterpret_cast<growth_frame *>(static_cast<char *>(rbp) - offsetof(growth_frame, saved_rbp));
  }
};
static_assert(offsetof(growth_frame, saved_rbp) - offsetof(growth_frame, target) == 80);
static_assert(offsetof(growth_frame, saved_rbp) - offsetof(growth_frame, rdi) == 40);

} // namespace nth::detail
