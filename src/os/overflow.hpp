// Stack overflow, caught on an alternate signal stack and named (design.md, section 4): the thread, its
// root, the size of its stack, the function that overflowed, the bytes it lacked and what to do.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nth::detail::os {

// What the memory layer knows of an address that faulted.
struct fault_place {
  bool in_area;       // false: not our address; the handler that was set before gets the signal
  bool in_guard;      // in the guard page of a stack
  const void *thread; // descriptor that runs on the stack; null: the scheduler's loop
  const void *root;   // its root function
  std::uint32_t generation;
  std::size_t stack_size;
  bool own_size;               // the thread was given a stack of its own size
  std::uintptr_t stack_bottom; // lowest usable address of the stack
};
using locate_fault = fault_place (*)(std::uintptr_t address) noexcept;

// Installs the SIGSEGV and SIGBUS handler for the process; what was set before is kept and gets every
// fault that is not ours. Restored by overflow_uninstall, unless the program has set a handler over ours:
// that one stays, and ours under it hands on every fault. Neither is called while the other runs.
bool overflow_install(locate_fault locate) noexcept;
void overflow_uninstall() noexcept;

// Gives the calling kernel thread an alternate signal stack, and takes it back. A kernel thread that has
// one already keeps it.
bool alternate_stack_set() noexcept;
void alternate_stack_drop() noexcept;

} // namespace nth::detail::os
