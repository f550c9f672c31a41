// Fork-join in line, for C++: a call that may run elsewhere, with any callable, result and exception.
//
//   long fib(long n) {
//     if (n < 2)
//       return n;
//     nth::spawned left([=] { return fib(n - 1); });
//     long right = fib(n - 2);
//     return left.sync() + right;
//   }
//
// Everything that nth/spawn.h says of nth_spawn and nth_sync holds. A child that is not taken is called where
// sync() stands, and the compiler sees the call.
#ifndef NTH_SPAWN_HPP
#define NTH_SPAWN_HPP

#include "nth/spawn.h"

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace nth {
namespace detail {

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__SANITIZE_ADDRESS__) &&                            \
    !defined(__SANITIZE_THREAD__)
constexpr bool spawns_in_line = true;

// Of the worker that runs the caller. Not to be kept: another worker may run it after a suspension, so the
// compiler must not know where it comes from.
inline nth_fork *fork_here() noexcept {
  nth_fork *f;
  asm volatile("movq nth_tls_fork@gottpoff(%%rip), %0\n\tmovq %%fs:(%0), %0" : "=r"(f));
  return f;
}
inline uintptr_t stack_pointer_here() noexcept {
  uintptr_t sp;
  asm volatile("movq %%rsp, %0" : "=r"(sp));
  return sp;
}
#else
constexpr bool spawns_in_line = false; // the sanitizers see it in the library
inline nth_fork *fork_here() noexcept { return nullptr; }
inline uintptr_t stack_pointer_here() noexcept { return 0; }
#endif

inline unsigned request_of(const nth_fork *f) noexcept {
  return __atomic_load_n(&reinterpret_cast<const nth_fork_watch *>(f + 1)->request, __ATOMIC_ACQUIRE);
}

// nth_spawn and the fast path of nth_sync (src/c_api/spawn.cpp), whose order of steps is part of the protocol.
inline void spawn(nth_spawn_record *r, long (*function)(long), long argument) noexcept {
  if constexpr (!spawns_in_line)
    return nth_spawn(r, function, argument);
  nth_fork *f = fork_here();
  nth_spawn_record *prev = f->top;
  if (__builtin_expect(prev == nullptr, 0))
    return nth_spawn(r, function, argument);
  r->function = function;
  r->value = argument;
  r->state = 0;
  r->prev = prev;
  __atomic_store_n(&prev->next, r, __ATOMIC_RELAXED);
  __atomic_store_n(&f->top, r, __ATOMIC_RELEASE);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (__builtin_expect(request_of(f) != 0, 0))
    nth_fork_answer();
}

// True: the call is the caller's, to be made here.
inline bool claim(nth_spawn_record *r) noexcept {
  if constexpr (!spawns_in_line)
    return false;
  nth_fork *f = fork_here();
  if (__builtin_expect(f->top != r || __atomic_load_n(&f->bottom, __ATOMIC_RELAXED) == r, 0))
    return false;
  __atomic_store_n(&f->top, r->prev, __ATOMIC_RELAXED);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const uintptr_t mask = reinterpret_cast<const nth_fork_watch *>(f + 1)->mask;
  if (__builtin_expect(request_of(f) == 0 && (stack_pointer_here() & mask) >= f->floor, 1))
    return true;
  __atomic_store_n(&f->top, r, __ATOMIC_RELAXED);
  return false;
}

} // namespace detail

// A spawned call of `F`, which takes nothing. It lives in the frame that made it and is synced there: by sync(), or,
// where that is not reached, by the destructor, which waits for the call and drops its result or exception.
template <class F>
class [[nodiscard]] spawned {
public:
  using result = std::invoke_result_t<F &>;

  explicit spawned(F f) : call(std::move(f)) {
    detail::spawn(&record, &spawned::run, reinterpret_cast<long>(this));
  }
  ~spawned() {
    if (open)
      drop(nth_sync(&record));
  }
  spawned(const spawned &) = delete;
  spawned &operator=(const spawned &) = delete;

  // What the call returns, or throws. Once.
  result sync() {
    open = false;
    if (detail::claim(&record))
      return std::invoke(call);
    return take(nth_sync(&record));
  }

private:
  // What a call that was not made by sync() itself has left behind: the result of `run`.
  enum outcome : long { none, returned, thrown };
  struct nothing {};
  using kept =
      std::conditional_t<std::is_void_v<result>, nothing,
                         std::conditional_t<std::is_reference_v<result>, std::remove_reference_t<result> *,
                                            std::remove_cv_t<result>>>;

  static long run(long at) noexcept {
    auto *s = reinterpret_cast<spawned *>(at);
    try {
      if constexpr (std::is_void_v<result>)
        std::invoke(s->call);
      else if constexpr (std::is_reference_v<result>) {
        auto &&r = std::invoke(s->call);
        s->value = std::addressof(r);
      } else
        ::new (static_cast<void *>(std::addressof(s->value))) kept(std::invoke(s->call));
      return returned;
    } catch (...) {
      ::new (static_cast<void *>(std::addressof(s->error))) std::exception_ptr(std::current_exception());
      return thrown;
    }
  }

  void drop(long how) noexcept {
    if (how == returned)
      value.~kept();
    else if (how == thrown)
      error.~exception_ptr();
  }

  result take(long how) {
    struct guard {
      spawned *s;
      long how;
      ~guard() { s->drop(how); }
    } const dropped{this, how};
    if (how == thrown)
      std::rethrow_exception(error);
    if (how != returned)
      throw std::logic_error("nth::spawned::sync: the call is not this thread's, or has been synced");
    if constexpr (std::is_reference_v<result>)
      return static_cast<result>(*value);
    else if constexpr (!std::is_void_v<result>)
      return std::move(value);
  }

  nth_spawn_record record;
  bool open{true};
  F call;
  union {
    kept value;
    std::exception_ptr error;
  };
};

} // namespace nth

#endif // NTH_SPAWN_HPP
