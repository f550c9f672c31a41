#include "os/os_failing.hpp"

namespace nth::detail::os {

namespace {

constexpr int kinds = static_cast<int>(fail_kind::count);
constinit std::atomic<long> made[kinds] = {};

} // namespace

static_assert(kinds == 5, "one initial value a kind");
constinit fail_plan fails{{-1, -1, -1, -1, -1}, false, false};

void fail_never() noexcept {
  for (auto &left : fails.calls_left)
    left.store(-1, std::memory_order_relaxed);
  fails.sticky.store(false, std::memory_order_relaxed);
  fails.advice_ignored.store(false, std::memory_order_relaxed);
}

void fail_after(fail_kind kind, long calls, bool sticky) noexcept {
  fails.sticky.store(sticky, std::memory_order_relaxed);
  fails.calls_left[static_cast<int>(kind)].store(calls, std::memory_order_relaxed);
}

long calls_made(fail_kind kind) noexcept {
  return made[static_cast<int>(kind)].load(std::memory_order_relaxed);
}

// Relaxed throughout: the plan orders nothing but itself, and the exchange picks exactly one caller as
// the n-th, whatever the number of kernel threads. 0 is the state after a sticky failure.
bool must_fail(fail_kind kind) noexcept {
  made[static_cast<int>(kind)].fetch_add(1, std::memory_order_relaxed);
  auto &left = fails.calls_left[static_cast<int>(kind)];
  long seen = left.load(std::memory_order_relaxed);
  while (seen > 0) {
    const long after_last = fails.sticky.load(std::memory_order_relaxed) ? 0 : -1;
    const long next = seen == 1 ? after_last : seen - 1;
    if (left.compare_exchange_weak(seen, next, std::memory_order_relaxed))
      return seen == 1;
  }
  return seen == 0;
}

} // namespace nth::detail::os
