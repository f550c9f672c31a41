#include "memory/stack.hpp"

#include "memory/annotate.hpp"
#include "os/os.hpp"

namespace nth::detail {

stack_pool the_stacks;
std::uintptr_t stack_last = 0;

bool stack_pool::open(unsigned size_log2, bool guarded) noexcept {
  log2 = size_log2;
  stack_last = (std::uintptr_t{1} << size_log2) - 1;
  pooled = {};
  made = 0;
  bare = 0;
  method = static_cast<std::uint8_t>(os::guard_method::none);
  if (!guarded)
    return true;
  // The method is proved on a stack of its own, which then joins the pool.
  std::size_t count = 1;
  void *stack = the_area.carve(region(), the_area.homes - 1, size(), count);
  if (stack == nullptr)
    return false;
  method = static_cast<std::uint8_t>(os::find_guard_method(stack));
  auto *top = reinterpret_cast<stack_top *>(static_cast<char *>(stack) + size()) - 1;
  dress(top);
  pooled.push(top);
  return true;
}

void stack_pool::close() noexcept { pooled = {}; }

std::size_t stack_pool::guard_size() const noexcept {
  return method == static_cast<std::uint8_t>(os::guard_method::none) ? 0 : os::page_size();
}

void stack_pool::dress(stack_top *top) noexcept {
  auto *bottom = reinterpret_cast<void *>(stack_bottom(top));
  const auto how = static_cast<os::guard_method>(method);
  const bool guarded = how != os::guard_method::none && os::guard(bottom, how);
  annotate::new_stack(top, reinterpret_cast<std::uintptr_t>(bottom) + (guarded ? os::page_size() : 0));
  __atomic_fetch_add(&made, 1, __ATOMIC_RELAXED);
  if (!guarded)
    __atomic_fetch_add(&bare, 1, __ATOMIC_RELAXED);
}

stack_top *stack_pool::carve(int home) noexcept {
  std::size_t count = 1;
  auto *stack = static_cast<char *>(the_area.carve(region(), home, size(), count));
  if (stack == nullptr)
    return nullptr;
  auto *top = reinterpret_cast<stack_top *>(stack + size()) - 1;
  dress(top);
  return top;
}

bool stack_pool::prepare(int home, long count, stack_list &into) noexcept {
  while (count > 0) {
    auto got = static_cast<std::size_t>(count);
    auto *stack = static_cast<char *>(the_area.carve(region(), home, size(), got));
    if (stack == nullptr)
      return false;
    for (std::size_t i = 0; i < got; ++i) {
      auto *top = reinterpret_cast<stack_top *>(stack + (i + 1) * size()) - 1;
      dress(top);
      into.push(top);
    }
    count -= static_cast<long>(got);
  }
  return true;
}

stack_top *stack_pool::take(int home) noexcept {
  {
    lock_scope scope(lock);
    if (stack_top *top = pooled.pop())
      return top;
  }
  return carve(home);
}

void stack_pool::put(stack_top *top) noexcept {
  lock_scope scope(lock);
  pooled.push(top);
}

void stack_pool::trim(stack_list &list) noexcept {
  lock_scope scope(lock);
  for (long n = list.count / 2; n > 0; --n)
    pooled.push(list.pop());
}

long stack_pool::allocated() noexcept { return __atomic_load_n(&made, __ATOMIC_RELAXED); }
long stack_pool::unguarded() noexcept { return __atomic_load_n(&bare, __ATOMIC_RELAXED); }

} // namespace nth::detail
