#include "os/os.hpp"

#include "base/error.hpp"
#include "os/os_failing.hpp"

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define NTH_PLAIN_FORK 1
#endif
#endif
#if defined(NTH_ASAN) || defined(NTH_TSAN) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define NTH_PLAIN_FORK 1
#endif

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

namespace nth::detail::os {

namespace {

// From linux/mman.h and linux/membarrier.h, whose older versions lack them.
constexpr int advice_guard_install = 102;
constexpr int advice_guard_remove = 103;
constexpr int advice_dontneed_locked = 24;
constexpr int membarrier_private_expedited = 1 << 3;
constexpr int membarrier_register_private_expedited = 1 << 4;

constinit std::atomic<std::size_t> known_page_size{0};
constinit std::atomic<long> protected_guards{0};

void *map(void *address, std::size_t size, int protection, int flags) noexcept {
  void *result = mmap(address, size, protection, MAP_ANONYMOUS | flags, -1, 0);
  return result == MAP_FAILED ? nullptr : result;
}

} // namespace

// ---- Address space -------------------------------------------------------------------------------

namespace {

// Valgrind's memcheck and user emulators (qemu-user) keep a record of each page or few of a mapping, touched or
// not: 16 TiB would cost them 100 GiB and minutes. Valgrind is known by what it has the program load, such an
// emulator by its answer to advice that nobody knows: success.
[[maybe_unused]] bool reservations_cost() noexcept {
  const char *preloaded = std::getenv("LD_PRELOAD");
  if (preloaded != nullptr && std::strstr(preloaded, "vgpreload") != nullptr)
    return true;
  constexpr int advice_unknown = 0x6e7468;
  const std::uintptr_t page = reinterpret_cast<std::uintptr_t>(&known_page_size) & ~(page_size() - 1);
  return madvise(reinterpret_cast<void *>(page), page_size(), advice_unknown) == 0;
}

} // namespace

#ifdef NTH_TSAN
std::size_t largest_reservation() noexcept { return std::size_t{64} << 30; }
bool address_is_ours_to_choose() noexcept { return false; }
#else
std::size_t largest_reservation() noexcept {
  return reservations_cost() ? std::size_t{16} << 30 : ~std::size_t{0};
}
bool address_is_ours_to_choose() noexcept { return true; }
#endif

std::size_t page_size() noexcept {
  std::size_t size = known_page_size.load(std::memory_order_relaxed);
  if (size == 0) {
    size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    known_page_size.store(size, std::memory_order_relaxed);
  }
  return size;
}

void *reserve(void *address, std::size_t size, std::size_t alignment) noexcept {
  if (must_fail(fail_kind::reserve))
    return nullptr;
  constexpr int flags = MAP_PRIVATE | MAP_NORESERVE;
  if (address != nullptr) {
    void *result = map(address, size, PROT_NONE, flags | MAP_FIXED_NOREPLACE);
    if (result == nullptr || result == address)
      return result;
    munmap(result, size); // a kernel before 4.17, an emulator: the address was taken as a mere hint
    return nullptr;
  }
  const std::size_t extra = alignment > page_size() ? alignment - page_size() : 0;
  if (size > SIZE_MAX - extra)
    return nullptr;
  char *start = static_cast<char *>(map(nullptr, size + extra, PROT_NONE, flags));
  if (start == nullptr || extra == 0)
    return start;
  const std::size_t over = reinterpret_cast<std::uintptr_t>(start) % alignment;
  const std::size_t head = over == 0 ? 0 : alignment - over;
  if (head != 0)
    munmap(start, head);
  if (extra != head)
    munmap(start + head + size, extra - head);
  return start + head;
}

void release(void *address, std::size_t size) noexcept { munmap(address, size); }

bool commit(void *address, std::size_t size, bool code) noexcept {
  if (must_fail(fail_kind::commit))
    return false;
  return mprotect(address, size, PROT_READ | PROT_WRITE | (code ? PROT_EXEC : 0)) == 0;
}

void discard(void *address, std::size_t size) noexcept {
  if (madvise(address, size, MADV_DONTNEED) == 0)
    return;
  // Locked memory (mlockall) is not given back by the first advice, nor by a kernel before 5.18 at all;
  // what is promised to read as zero is zeroed then.
  if (madvise(address, size, advice_dontneed_locked) != 0)
    std::memset(address, 0, size);
}

// ---- Guard pages ---------------------------------------------------------------------------------

namespace {

bool set_guard(void *page, guard_method method) noexcept {
  if (must_fail(fail_kind::guard))
    return false;
  switch (method) {
  case guard_method::advise:
    return fails.advice_ignored.load(std::memory_order_relaxed) ||
           madvise(page, page_size(), advice_guard_install) == 0;
  case guard_method::protect:
    return mprotect(page, page_size(), PROT_NONE) == 0;
  case guard_method::none:
    break;
  }
  return false;
}

void clear_guard(void *page, guard_method method) noexcept {
  if (method == guard_method::advise)
    madvise(page, page_size(), advice_guard_remove);
  else
    mprotect(page, page_size(), PROT_READ | PROT_WRITE);
}

// The proof that a page faults. The child shares the parent's memory (as vfork), so that its start costs
// the same in a small and in a large process, runs no atfork handlers, and raises no SIGCHLD at its end;
// the parent's kernel thread sleeps meanwhile. The child's table of signal handlers is its own. It catches
// the signal and exits, rather than die of it: kernels before 5.16 kill every process that shares the
// memory of one that dumps core.
//
// The word lies in memory shared also with a forked child, and tells the outcome when the program reaps
// the child before us.
struct probe {
  enum : int { started = 1, survived = 2 };
  void *page;
  std::atomic<int> seen;
};

constexpr std::size_t probe_stack_size = 64 * 1024;

extern "C" [[noreturn]] void nth_detail_probe_faulted(int) { _exit(0); }

__attribute__((no_sanitize("address", "thread"))) void touch(volatile char *page) noexcept {
  const char content = *page;
  *page = content;
}

extern "C" int nth_detail_probe_child(void *argument) {
  auto *const work = static_cast<probe *>(argument);
  struct sigaction action = {};
  action.sa_handler = nth_detail_probe_faulted;
  sigset_t faults;
  sigemptyset(&faults);
  for (int signal : {SIGSEGV, SIGBUS}) {
    sigaction(signal, &action, nullptr);
    sigaddset(&faults, signal);
  }
  sigprocmask(SIG_UNBLOCK, &faults, nullptr);
  work->seen.store(probe::started, std::memory_order_relaxed);
  touch(static_cast<volatile char *>(work->page));
  work->seen.store(probe::survived, std::memory_order_relaxed);
  _exit(0);
}

pid_t start_probe([[maybe_unused]] char *stack_top, probe *work) noexcept {
#ifndef NTH_PLAIN_FORK
  const pid_t child = clone(nth_detail_probe_child, stack_top, CLONE_VM | CLONE_VFORK, work);
  if (child != -1)
    return child;
#endif
  // Sanitizers keep state that a child must not share; some emulators know no other child than this.
  const pid_t forked = fork();
  if (forked == 0)
    nth_detail_probe_child(work);
  return forked;
}

bool faults_when_touched(void *page) noexcept {
  const std::size_t size = probe_stack_size + page_size();
  char *memory = static_cast<char *>(map(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED));
  if (memory == nullptr)
    return false;
  auto *work = reinterpret_cast<probe *>(memory); // zeroed by the kernel; on its own page, below the stack
  work->page = page;

  // No handler of the program may run in the child, nor interrupt the wait.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool faulted = false;
  const pid_t child = start_probe(memory + size, work);
  if (child != -1) {
    int status = 0;
    pid_t ended;
    do
      ended = waitpid(child, &status, __WALL);
    while (ended == -1 && errno == EINTR);
    // It exits after `started` from the handler only. What it exits with is not asked: Valgrind may change
    // that (--error-exitcode).
    faulted =
        work->seen.load(std::memory_order_relaxed) == probe::started && (ended != child || WIFEXITED(status));
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  munmap(memory, size);
  return faulted;
}

} // namespace

guard_method find_guard_method(void *page) noexcept {
  protected_guards.store(0, std::memory_order_relaxed);
  for (guard_method method : {guard_method::advise, guard_method::protect}) {
    if (!set_guard(page, method))
      continue;
    const bool works = faults_when_touched(page);
    clear_guard(page, method);
    if (works)
      return method;
  }
  return guard_method::none;
}

bool guard(void *page, guard_method method) noexcept {
  if (method != guard_method::protect)
    return set_guard(page, method);
  // Counted before it is made: two kernel threads cannot both take the last one.
  const bool done = protected_guards.fetch_add(1, std::memory_order_relaxed) < max_protected_guards &&
                    set_guard(page, method);
  if (!done)
    protected_guards.fetch_sub(1, std::memory_order_relaxed);
  return done;
}

// ---- Waiting, barriers, kernel threads -------------------------------------------------------------

void futex_wait(std::uint32_t *word, std::uint32_t expected) noexcept {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

void futex_wait_for(std::uint32_t *word, std::uint32_t expected, std::uint64_t ns) noexcept {
  constexpr std::uint64_t second = 1'000'000'000;
  const timespec most{static_cast<time_t>(ns / second), static_cast<long>(ns % second)};
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, &most, nullptr, 0);
}

void futex_wake(std::uint32_t *word, int count) noexcept {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

bool barrier_register() noexcept {
  // The second call is the proof: what registers and then refuses is of no use.
  return syscall(SYS_membarrier, membarrier_register_private_expedited, 0, 0) == 0 &&
         syscall(SYS_membarrier, membarrier_private_expedited, 0, 0) == 0;
}

void barrier_all() noexcept {
  while (syscall(SYS_membarrier, membarrier_private_expedited, 0, 0) != 0) {
    // The kernel may lack a few bytes for a moment. Any other refusal, after it has registered us, would
    // leave two kernel threads with different views of memory: there is no way to go on.
    if (errno != ENOMEM && errno != EINTR && errno != EAGAIN)
      assertion_failed("membarrier refused after it was registered", __FILE__, __LINE__);
    yield_processor();
  }
}

thread_id thread_start(void *(*function)(void *), void *argument, std::size_t stack_size) noexcept {
  static_assert(sizeof(pthread_t) == sizeof(thread_id));
  if (must_fail(fail_kind::thread_start))
    return 0;
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0)
    return 0;
  const long least = sysconf(_SC_THREAD_STACK_MIN);
  if (least > 0 && stack_size < static_cast<std::size_t>(least))
    stack_size = static_cast<std::size_t>(least);

  // The new kernel thread inherits the mask: the program's signals go to the program's own threads. Faults
  // stay open, since a blocked one kills the process without a word.
  sigset_t mask, before;
  sigfillset(&mask);
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL})
    sigdelset(&mask, signal);
  pthread_t thread{};
  pthread_sigmask(SIG_SETMASK, &mask, &before);
  const bool started = pthread_attr_setstacksize(&attributes, stack_size) == 0 &&
                       pthread_create(&thread, &attributes, function, argument) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return started ? thread : 0;
}

void thread_join(thread_id id) noexcept { pthread_join(id, nullptr); }

void yield_processor() noexcept { sched_yield(); }

std::uint64_t now_ns() noexcept {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

void *map_pages(std::size_t size) noexcept {
  if (must_fail(fail_kind::map_pages))
    return nullptr;
  return map(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE);
}

void unmap_pages(void *address, std::size_t size) noexcept { munmap(address, size); }

} // namespace nth::detail::os
