// Handlers on the alternate stack: what patched programs call in place of sigaction, signal and their kind. A signal may
// come where a thread has a few hundred bytes left, or in the middle of a switch; no need counts its frame.
#include "nth/growth.h"

#include <csignal>

namespace nth::detail {

namespace {

using signal_handler = void (*)(int);

// signal() and its kind. They differ in the flags, and in whether the signal is blocked while it is handled.
signal_handler set_handler(int number, signal_handler handler, int flags, bool blocked) noexcept {
  struct sigaction action = {}, before = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigemptyset(&action.sa_mask);
  if (handler == SIG_ERR || (blocked && sigaddset(&action.sa_mask, number) != 0))
    return SIG_ERR;
  return nth_growth_sigaction(number, &action, &before) == 0 ? before.sa_handler : SIG_ERR;
}

} // namespace

extern "C" {

NTH_API int nth_growth_sigaction(int number, const struct sigaction *action, struct sigaction *before) {
  if (action == nullptr || action->sa_handler == SIG_DFL || action->sa_handler == SIG_IGN)
    return sigaction(number, action, before);
  struct sigaction on_stack = *action;
  on_stack.sa_flags |= SA_ONSTACK;
  return sigaction(number, &on_stack, before);
}

NTH_API void (*nth_growth_signal(int number, void (*handler)(int)))(int) {
  return set_handler(number, handler, SA_RESTART, true);
}

NTH_API void (*nth_growth_sysv_signal(int number, void (*handler)(int)))(int) {
  constexpr int interrupt = 0x20000000; // SA_INTERRUPT of the C library, which does nothing, and is shown
  return set_handler(number, handler, static_cast<int>(SA_RESETHAND) | SA_NODEFER | interrupt, false);
}

NTH_API void (*nth_growth_sigset(int number, void (*disposition)(int)))(int) {
  sigset_t one, before;
  sigemptyset(&one);
  struct sigaction now = {};
  if (sigaddset(&one, number) != 0 || sigaction(number, nullptr, &now) != 0)
    return SIG_ERR;
  const bool hold = disposition == SIG_HOLD;
  if (!hold && set_handler(number, disposition, 0, false) == SIG_ERR)
    return SIG_ERR;
  if (pthread_sigmask(hold ? SIG_BLOCK : SIG_UNBLOCK, &one, &before) != 0)
    return SIG_ERR;
  return sigismember(&before, number) == 1 ? SIG_HOLD : now.sa_handler;
}

} // extern "C"

} // namespace nth::detail
