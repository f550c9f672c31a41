// Failure injection: the n-th call of a kind fails as if the kernel had refused. Compiled in always (one
// relaxed load and one relaxed count per system call, never on a hot path), so that the library which is tested is the one
// which is shipped.
#pragma once

#include <atomic>

namespace nth::detail::os {

enum class fail_kind { reserve, commit, guard, thread_start, map_pages, count };

// calls_left[kind]: -1: never fails; n > 0: the n-th call from now fails, once; `sticky`: and all after it.
struct fail_plan {
  std::atomic<long> calls_left[static_cast<int>(fail_kind::count)];
  std::atomic<bool> sticky;
  // Guard advice is answered with success and not taken, as emulators do with advice that they don't know.
  std::atomic<bool> advice_ignored;
};
extern fail_plan fails;

void fail_never() noexcept;
void fail_after(fail_kind kind, long calls, bool sticky) noexcept;
// Calls of a kind since the process began: a test runs once to learn how many there are.
long calls_made(fail_kind kind) noexcept;
// For os.cpp: counts a call and answers whether it must fail.
bool must_fail(fail_kind kind) noexcept;

} // namespace nth::detail::os
