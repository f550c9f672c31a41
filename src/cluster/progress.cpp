#include "cluster/progress.hpp"

#include "arch/arch.hpp"
#include "cluster/pieces.hpp"
#include "cluster/print.hpp"
#include "memory/stack.hpp"
#include "os/os.hpp"
#include "thread/runtime.hpp"

#include <atomic>
#include <cerrno>

namespace nth::detail::cluster {

namespace {

// MPI takes tens of KiB on some networks: more than a stack of the default class is sure to have left.
constexpr std::size_t stack_bytes = std::size_t{512} << 10;
constexpr std::uint64_t shortest_nap_ns = 20'000;

std::atomic<bool> busy{false};
std::atomic<bool> ending{false};
std::uint32_t nap_word; // nobody wakes it: the thread naps
std::uint64_t longest_nap_ns;
os::thread_id thread;
char *stack;
std::atomic<long> poll_count{0};
reader readers[static_cast<int>(channel::count)];

bool try_lock() noexcept {
  return !busy.load(std::memory_order_relaxed) && !busy.exchange(true, std::memory_order_acquire);
}
void unlock() noexcept { busy.store(false, std::memory_order_release); }

// MPI and stdio change errno, which is the running thread's.
class errno_scope {
public:
  errno_scope() noexcept : kept(errno) {}
  ~errno_scope() noexcept { errno = kept; }
  errno_scope(const errno_scope &) = delete;
  errno_scope &operator=(const errno_scope &) = delete;

private:
  int kept;
};

// The stack belongs to the lock. Kernel threads outside have stacks of their own.
void call_with_room(void (*f)(void *), void *context) noexcept {
#if defined(NTH_ASAN) || defined(NTH_TSAN)
  f(context);
#else
  if (on_stack(stack_pointer()))
    nth_arch_call_on(stack + stack_bytes, f, context);
  else
    f(context);
#endif
}

void read_all(void *came) {
  envelope e;
  while (transport::receive(e)) {
    *static_cast<bool *>(came) = true;
    readers[static_cast<int>(e.to)](e);
  }
}

// A page without access lies below it.
char *make_stack() noexcept {
  char *all = static_cast<char *>(os::reserve(nullptr, stack_bytes + os::page_size(), os::page_size()));
  if (all == nullptr)
    return nullptr;
  if (os::commit(all + os::page_size(), stack_bytes))
    return all + os::page_size();
  os::release(all, stack_bytes + os::page_size());
  return nullptr;
}
void drop_stack() noexcept {
  if (stack != nullptr)
    os::release(stack - os::page_size(), stack_bytes + os::page_size());
  stack = nullptr;
}

// Whoever was called on the scheduler's stack (thread/roomy.hpp) stands on nobody's, and waits where it is; so does a
// thread in an nth_no_suspend scope.
bool can_yield() noexcept {
  const worker *w = worker_or_null();
  const std::uintptr_t sp = stack_pointer();
  if (w == nullptr || !on_stack(sp))
    return false;
  const auto loop = reinterpret_cast<std::uintptr_t>(w->loop_sp);
  if (w->special == special_class && (sp & ~stack_last) == (loop & ~stack_last))
    return false;
  const nth_desc *d = top_of(sp)->thread;
  return d != nullptr && (flags_of(d) & flag_no_suspend) == 0;
}

void *nap_and_read(void *) {
  std::uint64_t nap = shortest_nap_ns;
  while (!ending.load(std::memory_order_acquire)) {
    if (progress()) {
      nap = shortest_nap_ns;
      continue;
    }
    os::futex_wait_for(&nap_word, 0, nap);
    nap = nap * 2 < longest_nap_ns ? nap * 2 : longest_nap_ns;
  }
  return nullptr;
}

} // namespace

void set_reader(channel on, reader r) noexcept { readers[static_cast<int>(on)] = r; }

bool open_progress(bool own_thread, std::uint64_t poll_ns) noexcept {
  stack = make_stack();
  if (stack == nullptr)
    return false;
  poll_count.store(0, std::memory_order_relaxed);
  ending.store(false, std::memory_order_relaxed);
  longest_nap_ns = poll_ns;
  thread = own_thread ? os::thread_start(nap_and_read, nullptr, stack_bytes) : 0;
  if (own_thread && thread == 0) {
    drop_stack();
    return false;
  }
  return true;
}

void close_progress() noexcept {
  ending.store(true, std::memory_order_release);
  if (thread != 0)
    os::thread_join(thread);
  thread = 0;
  drop_stack();
}

bool progress() noexcept {
  const errno_scope keeps_errno;
  if (!try_lock())
    return write_waiting_lines();
  poll_count.store(poll_count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  bool came = false;
  call_with_room(read_all, &came);
  unlock();
  return write_waiting_lines() || came || send_pieces();
}

void with_transport(void (*f)(void *context), void *context) noexcept {
  const errno_scope keeps_errno;
  while (!try_lock())
    os::yield_processor();
  call_with_room(f, context);
  unlock();
}

void wait_a_little(bool may_suspend, bool came) noexcept {
  if (came)
    return;
  if (may_suspend && can_yield())
    nth_yield();
  // Ranks may share processors: the one that is to answer may need this one.
  os::yield_processor();
}

long polls() noexcept { return poll_count.load(std::memory_order_relaxed); }

} // namespace nth::detail::cluster
