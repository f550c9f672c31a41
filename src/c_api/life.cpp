// The life of a run: nth_init, nth_finalize, nth_run.
#include "base/error.hpp"
#include "base/options.hpp"
#include "c_api/check.hpp"
#include "thread/outside.hpp"
#include "thread/ready.hpp"

#include <cstdarg>
#include <pthread.h>

using namespace nth::detail;

int kthreads = 0;

namespace {

// nth_init and nth_finalize from several kernel threads take turns.
pthread_mutex_t life_lock = PTHREAD_MUTEX_INITIALIZER;

struct life_scope {
  life_scope() noexcept { pthread_mutex_lock(&life_lock); }
  ~life_scope() noexcept { pthread_mutex_unlock(&life_lock); }
  life_scope(const life_scope &) = delete;
  life_scope &operator=(const life_scope &) = delete;
};

} // namespace

extern "C" NTH_API nth_status nth_init(const nth_options *options) {
  // Before the lock: a worker that waited for it would never run what its holder waits for.
  if (worker_or_null() != nullptr)
    return fail(NTH_ESTATE, "nth_init: called in a nano-thread; the run-time is up already");
  life_scope scope;
  if (the_runtime.up.load(std::memory_order_acquire))
    return fail(NTH_ESTATE, "nth_init: the run-time is up already; call nth_finalize first");
  nth_options chosen;
  if (options != nullptr) {
    chosen = *options;
  } else {
    const nth_status read = nth_options_init(&chosen);
    if (read != NTH_OK)
      return read;
  }
  const nth_status checked = check_options(chosen);
  return checked != NTH_OK ? checked : start_runtime(chosen);
}

nth_status nth::detail::finalize_run() noexcept {
  life_scope scope;
  return stop_runtime();
}

extern "C" NTH_API nth_status nth_finalize(void) {
  if (worker_or_null() != nullptr)
    return fail(NTH_ESTATE,
                "nth_finalize: called in a nano-thread; return from it and call where nth_init was called");
  life_scope scope;
  if (!the_runtime.up.load(std::memory_order_acquire))
    return fail(NTH_ESTATE, "nth_finalize: the run-time is not up");
  if (the_runtime.seat.area.base != 0)
    return fail(NTH_ESTATE, "nth_finalize: this is a rank of a cluster run; call nth_cluster_finalize");
  return stop_runtime();
}

extern "C" NTH_API nth_status nth_run_v(void (*root)(), int narg, const long *args) {
  if (the_runtime.strict && up() && root != nullptr && is_refused(root)) [[unlikely]] {
    char why[400];
    return fail(NTH_EINVAL, "nth_run: %s", describe_refusal(root, why, sizeof why));
  }
  return run_root(root, narg, args);
}

nth_status nth::detail::run_root(void (*root)(), int narg, const long *args) noexcept {
  if (worker_or_null() != nullptr)
    return fail(NTH_ESTATE,
                "nth_run: called in a nano-thread; use nth_create, nth_depadd and nth_block there");
  if (!the_runtime.up.load(std::memory_order_acquire))
    return fail(NTH_ESTATE, "nth_run: the run-time is not up; call nth_init first");
  if (const char *wrong = wrong_creation(root, 0, 0, narg, args))
    return fail(NTH_EINVAL, "nth_run: %s", wrong);
  nth_desc *me = make_outside_desc();
  block *b = me == nullptr ? nullptr : take_block_outside();
  nth_desc *d = nullptr;
  if (b != nullptr) {
    outside_scope outside;
    d = create_thread(outside.get(), {root, 0, 1, &me, narg, args});
  }
  if (d == nullptr) {
    if (b != nullptr)
      give_block_outside(b);
    if (me != nullptr)
      drop_outside_desc(me);
    return fail(NTH_ENOMEM, "nth_run: no memory for a thread");
  }
  __atomic_store_n(&me->ndep, 1, __ATOMIC_RELAXED);
  set_state(d, thread_state::ready_fresh);
  send_outside(0, d, b, queue_end::front);
  wait_outside(me);
  drop_outside_desc(me);
  return NTH_OK;
}

extern "C" NTH_API nth_status nth_run(void (*root)(), int narg, ...) {
  long words[NTH_MAX_ARGS];
  va_list list;
  va_start(list, narg);
  for (int i = 0; i < narg && i < NTH_MAX_ARGS; ++i)
    words[i] = va_arg(list, long);
  va_end(list);
  return nth_run_v(root, narg, words);
}
