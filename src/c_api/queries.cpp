// Questions: who runs here, what has been allocated, what is blocked.
#include "base/error.hpp"
#include "thread/create.hpp"
#include "thread/runtime.hpp"
#include "thread/statistics.hpp"

#include <cstdio>
#include <unistd.h>

using namespace nth::detail;

extern "C" NTH_API nth_desc *nth_self(void) { return self(); }

extern "C" NTH_API int nth_workers(void) { return kthreads; }

extern "C" NTH_API int nth_worker(void) {
  const worker *w = worker_or_null();
  return w == nullptr ? -1 : w->id;
}

extern "C" NTH_API nth_policy nth_stack_policy(void) { return the_runtime.policy; }

extern "C" NTH_API nth_handle_t nth_handle(nth_desc *d) {
  return d == nullptr ? nth_handle_t{nullptr, 0} : nth_handle_t{d, generation_of(d)};
}

extern "C" NTH_API int nth_alive(nth_handle_t handle) {
  if (handle.thread == nullptr || kthreads == 0)
    return 0;
  const dep_word word = __atomic_load_n(word_of(handle.thread), __ATOMIC_ACQUIRE);
  return generation_in(word) == handle.generation && state_in(word) != thread_state::free ? 1 : 0;
}

extern "C" NTH_API nth_status nth_get_counters(nth_counters *counters) {
  if (counters == nullptr)
    return fail(NTH_EINVAL, "nth_get_counters: NULL");
  if (!the_runtime.up.load(std::memory_order_acquire))
    return fail(NTH_ESTATE, "nth_get_counters: the run-time is not up");
  read_counters(*counters);
  return NTH_OK;
}

extern "C" NTH_API nth_status nth_get_stats(nth_stats *stats) {
  if (stats == nullptr)
    return fail(NTH_EINVAL, "nth_get_stats: NULL");
  if (!the_runtime.up.load(std::memory_order_acquire))
    return fail(NTH_ESTATE, "nth_get_stats: the run-time is not up");
  read_stats(*stats);
  return NTH_OK;
}

extern "C" NTH_API void nth_write_stats(int fd) {
  if (the_runtime.up.load(std::memory_order_acquire))
    write_stats(fd);
}

extern "C" NTH_API long nth_report_blocked(int fd) {
  if (!the_runtime.up.load(std::memory_order_acquire))
    return 0;
  struct report {
    int fd;
    long count;
  } r{fd, 0};
  for_each_live(
      [](nth_desc *d, void *context) noexcept {
        auto *to = static_cast<report *>(context);
        const thread_state s = state_of(d);
        const std::uint32_t n = dependencies(d);
        if (s != thread_state::blocked && s != thread_state::waits && !(s == thread_state::created && n != 0))
          return;
        ++to->count;
        char name[200];
        char line[320];
        describe_function(reinterpret_cast<const void *>(d->root), name, sizeof name);
        const char *what = s == thread_state::created ? "has not started" : "is blocked";
        const int length =
            s == thread_state::waits
                ? std::snprintf(line, sizeof line, "nth: thread %p, root %s, waits in nth_sync\n",
                                static_cast<void *>(d), name)
            : (n & dep_waiting) != 0
                ? std::snprintf(line, sizeof line, "nth: thread %p, root %s, %s: waits for nth_unblock\n",
                                static_cast<void *>(d), name, what)
                : std::snprintf(line, sizeof line, "nth: thread %p, root %s, %s: %u dependencies are left\n",
                                static_cast<void *>(d), name, what, n & dep_count);
        if (length > 0 && write(to->fd, line, static_cast<std::size_t>(length)) < 0)
          return; // a report that nobody can read changes nothing else
      },
      &r);
  return r.count;
}
