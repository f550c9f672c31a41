// Loops for C++: nth_parallel_for with any callable, and with exceptions.
//
//   nth::parallel_for(0, n, [&](long i) { y[i] += a * x[i]; });
//   nth::parallel_for(0, n, [&](long first, long last) { … });
#ifndef NTH_LOOP_HPP
#define NTH_LOOP_HPP

#include "nth/loop.h"

#include <atomic>
#include <exception>
#include <new>
#include <stdexcept>
#include <type_traits>

namespace nth {

// Calls f(i) for each i in [begin, end), or f(first, last) for pieces that cover it, on all workers, and returns
// when all have ended. When calls throw, the first exception is thrown here; pieces not begun by then are
// skipped. Throws std::bad_alloc, std::invalid_argument or std::logic_error for the errors of nth_parallel_for.
template <class F>
void parallel_for(long begin, long end, F &&f, nth_schedule schedule = NTH_SCHEDULE_AUTO, long grain = 0) {
  struct state {
    std::remove_reference_t<F> *function;
    std::atomic<int> failed{0};
    std::exception_ptr error;
  } s{&f, {}, {}};
  const auto body = +[](long first, long last, void *shared) {
    auto *to = static_cast<state *>(shared);
    if (to->failed.load(std::memory_order_relaxed) != 0)
      return;
    try {
      if constexpr (std::is_invocable_v<F &, long, long>) {
        (*to->function)(first, last);
      } else {
        for (long i = first; i < last; ++i)
          (*to->function)(i);
      }
    } catch (...) {
      if (to->failed.exchange(1, std::memory_order_relaxed) == 0)
        to->error = std::current_exception();
    }
  };
  const nth_status status = nth_parallel_for(begin, end, body, &s, schedule, grain);
  if (status == NTH_ENOMEM)
    throw std::bad_alloc();
  if (status == NTH_EINVAL)
    throw std::invalid_argument(nth_last_error());
  if (status != NTH_OK)
    throw std::logic_error(nth_last_error());
  if (s.error)
    std::rethrow_exception(s.error);
}

} // namespace nth

#endif // NTH_LOOP_HPP
