#include "os/overflow.hpp"

#include "base/error.hpp"
#include "base/options.hpp"
#include "os/os.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <pthread.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

namespace nth::detail::os {

namespace {

// One of the two signals: what was set before ours, and whether ours stands. A handler that the program
// set over ours may call ours; so `before` stays valid for ever, also after overflow_uninstall.
struct caught_signal {
  int number;
  bool standing;
  struct sigaction before;
};
caught_signal caught[] = {{SIGSEGV, false, {}}, {SIGBUS, false, {}}};

// Null while the run-time is down: then every fault is handed on.
constinit std::atomic<locate_fault> locator{nullptr};

struct code_point {
  std::uintptr_t instruction;
  std::uintptr_t stack_pointer;
};

code_point interrupted(const void *context) noexcept {
  const auto &machine = static_cast<const ucontext_t *>(context)->uc_mcontext;
#if defined(__x86_64__)
  return {static_cast<std::uintptr_t>(machine.gregs[REG_RIP]),
          static_cast<std::uintptr_t>(machine.gregs[REG_RSP])};
#elif defined(__aarch64__)
  return {machine.pc, machine.sp};
#else
#error "where is the instruction pointer of a signal's context?"
#endif
}

// A stack that would have been large enough for what was seen; 0: none may be that large.
std::size_t advised_size(std::size_t stack_size, std::size_t lacked) noexcept {
  const auto largest = static_cast<std::size_t>(largest_stack_size);
  if (stack_size == 0 || lacked > largest)
    return 0;
  std::size_t size = 2 * stack_size;
  while (size < stack_size + lacked)
    size *= 2;
  return size <= largest ? size : 0;
}

// Runs on the alternate stack: no allocation, no lock that this kernel thread cannot take again, and one
// write, so that the lines of two threads that overflow at once do not mix. About 1.5 KiB of frames.
void report(const fault_place &place, std::uintptr_t address, const void *context) noexcept {
  const code_point code = interrupted(context);
  // The deepest byte that the function is known to want: what it touched, or where its frame ends.
  const std::uintptr_t deepest =
      code.stack_pointer < address &&
              place.stack_bottom - code.stack_pointer <= static_cast<std::size_t>(largest_stack_size)
          ? code.stack_pointer
          : address;
  const std::size_t lacked = place.stack_bottom - deepest;

  char who[208];
  if (place.thread == nullptr) {
    std::snprintf(who, sizeof who, "a worker's scheduler loop");
  } else {
    char root[128];
    std::snprintf(who, sizeof who, "thread 0x%lx (generation %u), root %s",
                  reinterpret_cast<unsigned long>(place.thread), static_cast<unsigned>(place.generation),
                  describe_function(place.root, root, sizeof root));
  }
  char function[160];
  describe_function(reinterpret_cast<const void *>(code.instruction), function, sizeof function);
  char advice[96] = "Give the thread less to do on its stack.";
  if (const std::size_t size = advised_size(place.stack_size, lacked))
    std::snprintf(advice, sizeof advice,
                  place.own_size ? "Give it %zu or more by nth_set_stack_size, or less to do on its stack."
                                 : "Set NTH_STACK_SIZE=%zu or more, or give it less to do on its stack.",
                  size);
  char line[640];
  const int length =
      std::snprintf(line, sizeof line,
                    "nth: stack overflow in %s: its stack of %zu bytes was overrun by at least "
                    "%zu bytes in %s. %s\n",
                    who, place.stack_size, lacked, function, advice);
  const std::size_t most = sizeof line - 1;
  const std::size_t bytes = length < 0                                ? 0
                            : static_cast<std::size_t>(length) < most ? static_cast<std::size_t>(length)
                                                                      : most;
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line, bytes); // nobody is left to tell
}

// Does what would have happened without us. The kernel restores the mask of signals when the handler
// returns, so it is only ever widened or narrowed here.
void hand_on(int number, siginfo_t *info, void *context, const struct sigaction &before) noexcept {
  const bool sent = info->si_code <= 0; // by kill or sigqueue: returning would not bring it again
  if ((before.sa_flags & SA_SIGINFO) == 0 && (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN)) {
    if (sent && before.sa_handler == SIG_IGN)
      return;
    sigaction(number, &before, nullptr);
    if (sent)
      raise(number);
    return; // the instruction faults again, and the kernel acts
  }
  pthread_sigmask(SIG_BLOCK, &before.sa_mask, nullptr);
  if ((before.sa_flags & SA_NODEFER) != 0) {
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, number);
    pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  }
  if ((before.sa_flags & SA_SIGINFO) != 0)
    before.sa_sigaction(number, info, context);
  else
    before.sa_handler(number);
}

// Installed without SA_NODEFER: a fault in the handler itself ends the process instead of coming back here.
extern "C" void nth_detail_on_fault(int number, siginfo_t *info, void *context) {
  const int kept_errno = errno;
  const locate_fault locate = locator.load(std::memory_order_acquire);
  if (locate != nullptr && info->si_code > 0) {
    const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    const fault_place place = locate(address);
    if (place.in_area && place.in_guard) {
      report(place, address, context);
      struct sigaction standard = {};
      standard.sa_handler = SIG_DFL;
      sigaction(number, &standard, nullptr);
      std::abort();
    }
  }
  errno = kept_errno;
  hand_on(number, info, context, caught[number == SIGSEGV ? 0 : 1].before);
  errno = kept_errno;
}

bool is_ours(const struct sigaction &action) noexcept {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == nth_detail_on_fault;
}

bool same_handler(const struct sigaction &a, const struct sigaction &b) noexcept {
  if (((a.sa_flags ^ b.sa_flags) & SA_SIGINFO) != 0)
    return false;
  return (a.sa_flags & SA_SIGINFO) != 0 ? a.sa_sigaction == b.sa_sigaction : a.sa_handler == b.sa_handler;
}

bool install(caught_signal &signal) noexcept {
  struct sigaction now;
  if (sigaction(signal.number, nullptr, &now) != 0)
    return false;
  // Left standing under a handler of the program: it goes on to call us, and must not find itself in
  // `before`, or the two would call each other for ever.
  if (is_ours(now) || (signal.standing && !same_handler(now, signal.before)))
    return true;
  signal.before = now; // before ours can be called
  struct sigaction ours = {};
  ours.sa_sigaction = nth_detail_on_fault;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&ours.sa_mask);
  signal.standing = sigaction(signal.number, &ours, nullptr) == 0;
  return signal.standing;
}

void uninstall(caught_signal &signal) noexcept {
  struct sigaction now;
  if (!signal.standing || sigaction(signal.number, nullptr, &now) != 0)
    return;
  if (is_ours(now))
    signal.standing = sigaction(signal.number, &signal.before, nullptr) != 0;
}

} // namespace

bool overflow_install(locate_fault locate) noexcept {
  for (caught_signal &signal : caught) {
    if (!install(signal)) {
      overflow_uninstall();
      return false;
    }
  }
  locator.store(locate, std::memory_order_release);
  return true;
}

void overflow_uninstall() noexcept {
  locator.store(nullptr, std::memory_order_release);
  for (caught_signal &signal : caught)
    uninstall(signal);
}

// ---- Alternate stacks ------------------------------------------------------------------------------

namespace {

// The mapping that this kernel thread was given: a page without access, then the stack.
__attribute__((tls_model("initial-exec"))) constinit thread_local char *own_mapping = nullptr;
__attribute__((tls_model("initial-exec"))) constinit thread_local std::size_t own_size = 0;

// The processor's registers alone may take 11 KiB (AMX), and a handler of the program that gets the fault
// from us runs here too.
std::size_t alternate_stack_size() noexcept {
  const std::size_t wanted = 4 * static_cast<std::size_t>(getauxval(AT_MINSIGSTKSZ));
  const std::size_t size = wanted > 64 * 1024 ? wanted : 64 * 1024;
  return (size + page_size() - 1) / page_size() * page_size();
}

} // namespace

bool alternate_stack_set() noexcept {
  stack_t now;
  if (sigaltstack(nullptr, &now) != 0)
    return false;
  if ((now.ss_flags & SS_DISABLE) == 0)
    return true;
  const std::size_t size = page_size() + alternate_stack_size();
  char *mapping = static_cast<char *>(map_pages(size));
  if (mapping == nullptr)
    return false;
  stack_t ours = {};
  ours.ss_sp = mapping + page_size();
  ours.ss_size = size - page_size();
  if (mprotect(mapping, page_size(), PROT_NONE) != 0 || sigaltstack(&ours, nullptr) != 0) {
    unmap_pages(mapping, size);
    return false;
  }
  own_mapping = mapping;
  own_size = size;
  return true;
}

void alternate_stack_drop() noexcept {
  if (own_mapping == nullptr)
    return;
  stack_t now;
  if (sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_ONSTACK) != 0)
    return;                                     // called in a signal handler: the stack is in use
  if (now.ss_sp == own_mapping + page_size()) { // else the program has set its own since
    stack_t none = {};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
  }
  unmap_pages(own_mapping, own_size);
  own_mapping = nullptr;
  own_size = 0;
}

} // namespace nth::detail::os
