// nth_no_suspend scopes: enqueueing does not suspend the caller. Their number lies in the descriptor of the
// running thread, so it goes where the thread goes, and a flag that ends with the thread says that it is valid:
// neither the next thread on the stack nor a child that is called on it inherits anything.
#include "base/error.hpp"
#include "thread/roomy.hpp"

using namespace nth::detail;

namespace {

constexpr std::uint64_t most_scopes = 0xffff;

std::uint64_t scopes_of(const nth_desc *d) noexcept {
  return (flags_of(d) & flag_no_suspend) == 0 ? 0
                                              : static_cast<std::uint64_t>(d->args[saved_fp]) >> scopes_shift;
}

void set_scopes(nth_desc *d, std::uint64_t n) noexcept {
  const std::uint64_t rest = static_cast<std::uint64_t>(d->args[saved_fp]) & below_scopes;
  d->args[saved_fp] = static_cast<long>(n << scopes_shift | rest);
}

} // namespace

extern "C" NTH_API void nth_no_suspend_begin(void) {
  nth_desc *d = self();
  if (d == nullptr)
    return;
  const std::uint64_t n = scopes_of(d);
  if (n == most_scopes)
    return roomy(current_worker(), [=] {
      misuse(NTH_ESTATE,
             "nth_no_suspend_begin: %ld scopes are open in thread %p; call nth_no_suspend_end once for each",
             static_cast<long>(n), static_cast<void *>(d));
    });
  set_scopes(d, n + 1);
  if (n == 0)
    __atomic_fetch_or(&d->flags, flag_no_suspend, __ATOMIC_RELAXED);
}

extern "C" NTH_API void nth_no_suspend_end(void) {
  nth_desc *d = self();
  if (d == nullptr)
    return;
  const std::uint64_t n = scopes_of(d);
  if (n == 0)
    return roomy(current_worker(), [=] {
      misuse(NTH_ESTATE,
             "nth_no_suspend_end: no scope is open in thread %p; call nth_no_suspend_begin before, in the "
             "same thread",
             static_cast<void *>(d));
    });
  set_scopes(d, n - 1);
  if (n == 1)
    __atomic_fetch_and(&d->flags, static_cast<std::uint8_t>(~flag_no_suspend), __ATOMIC_RELAXED);
}
