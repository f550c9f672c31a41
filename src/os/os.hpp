// What the library asks of the operating system, and nothing else does. Every call can fail, and every
// caller says what it does then; os_failing.hpp makes the n-th call of a kind fail, for tests.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nth::detail::os {

// ---- Address space -------------------------------------------------------------------------------

std::size_t page_size() noexcept;

// Reserves `size` bytes without access (PROT_NONE, no swap accounting), at `address` exactly when it is
// not null and free, else nullptr: what lies there is never touched. With a null address the kernel
// chooses, and the result is a multiple of `alignment`.
void *reserve(void *address, std::size_t size, std::size_t alignment) noexcept;
void release(void *address, std::size_t size) noexcept;

// What may be reserved at most, and whether at an address of our choice: ThreadSanitizer ends a process
// that maps memory where it does not expect any; Valgrind and user emulators pay for what is only reserved.
std::size_t largest_reservation() noexcept;
bool address_is_ours_to_choose() noexcept;

// Makes a reserved range readable and writable; `code`: and executable. False: out of memory or over a limit; nothing
// changed. The range holds no guard page, for `protect` guards would be lost.
bool commit(void *address, std::size_t size, bool code = false) noexcept;

// Gives the pages of a committed range, one without guard pages, back to the kernel; they read as zero
// afterwards.
void discard(void *address, std::size_t size) noexcept;

// ---- Guard pages ---------------------------------------------------------------------------------

enum class guard_method : std::uint8_t { none, advise, protect };

// Finds the method that works on `page` (committed, one page, at least), best first: MADV_GUARD_INSTALL
// (Linux 6.13; splits no mapping), then mprotect. Each is believed only when a child process that
// touches the page gets SIGSEGV, for emulators answer success to advice that they don't know.
// The page is readable and writable afterwards, its content is lost. Called once a run, before the run's
// first guard(): it starts the count of guard pages of the method `protect` anew.
guard_method find_guard_method(void *page) noexcept;

// Guard pages that the method `protect` makes at most. Each splits one mapping in three, so it costs two
// of the 65,530 that a process may have by default (vm.max_map_count), and of the 30,000 of Valgrind, which
// ends the process where they are exceeded.
inline constexpr long max_protected_guards = 14'000;

// Puts a guard page at `page`. False: refused (for `protect`, also past max_protected_guards).
bool guard(void *page, guard_method method) noexcept;

// ---- Waiting, barriers, kernel threads -------------------------------------------------------------

// Sleeps while *word == expected; may return early.
void futex_wait(std::uint32_t *word, std::uint32_t expected) noexcept;
void futex_wake(std::uint32_t *word, int count) noexcept;
// The same for so long at most.
void futex_wait_for(std::uint32_t *word, std::uint32_t expected, std::uint64_t ns) noexcept;

// Registers for membarrier(2) PRIVATE_EXPEDITED. False: not available (old kernel, emulator, seccomp).
bool barrier_register() noexcept;
// All kernel threads of the process pass a full memory barrier before it returns.
void barrier_all() noexcept;

// Starts a kernel thread with a stack of `stack_size` bytes, all signals blocked but those of faults. The result is handed to
// thread_join; 0 stands for failure.
using thread_id = unsigned long;
thread_id thread_start(void *(*function)(void *), void *argument, std::size_t stack_size) noexcept;
void thread_join(thread_id id) noexcept;

// A pause of the calling processor in a spin loop; and a call to let another kernel thread run.
inline void pause() noexcept { __builtin_ia32_pause(); }
void yield_processor() noexcept;

// Monotonic nanoseconds.
std::uint64_t now_ns() noexcept;

// Zeroed memory straight from the kernel, for the few objects that live as long as a run; nullptr: none.
void *map_pages(std::size_t size) noexcept;
void unmap_pages(void *address, std::size_t size) noexcept;

} // namespace nth::detail::os
