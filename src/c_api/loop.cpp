// Loops of threads: nth_spawn_n, nth_parallel_for.
#include "nth/loop.h"

#include "base/error.hpp"
#include "c_api/check.hpp"
#include "thread/desc_memory.hpp"
#include "thread/outside.hpp"
#include "thread/range.hpp"
#include "thread/ready.hpp"
#include "thread/roomy.hpp"

#include <climits>

using namespace nth::detail;

namespace {

using root_function = void (*)();

nth_status no_memory_for_loop(const char *call) noexcept {
  return fail(NTH_ENOMEM, "%s: no memory for the loop; nothing was begun", call);
}

// The loop's common part, in a descriptor's memory, and its first share.
nth_desc *make_loop(worker *w, root_function body, long n, void *shared, nth_desc *successor) noexcept {
  nth_desc *cell = take_desc(w);
  if (cell == nullptr)
    return nullptr;
  if (n == 0) { // a thread that does nothing
    prepare_desc(cell, reinterpret_cast<root_function>(+[] {}), successor, 0, 0);
    set_state(cell, thread_state::ready_fresh);
    return cell;
  }
  auto *work = reinterpret_cast<loop_work *>(cell);
  set_state(cell, thread_state::spill);
  work->least = 1;
  work->shared = shared;
  work->successor = successor;
  work->kind = loop_kind::indices;
  work->left = static_cast<unsigned long>(n);
  work->body = body;
  nth_desc *d = make_share(w, work, 0, n);
  if (d == nullptr) {
    set_state(cell, thread_state::free);
    release_desc(w, cell);
    return nullptr;
  }
  set_state(d, thread_state::ready_fresh);
  return d;
}

nth_status spawn_loop(root_function body, long n, void *shared, nth_desc *successor) noexcept {
  if (!up())
    return fail(NTH_ESTATE, "nth_spawn_n: the run-time is not up; call nth_init first");
  if (body == nullptr || n < 0)
    return fail(NTH_EINVAL, "nth_spawn_n: %s",
                body == nullptr ? "the function is NULL" : "the number of threads is negative");
  worker *w = worker_or_null();
  if (n == 0 && successor == nullptr)
    return NTH_OK;
  if (w != nullptr) {
    nth_desc *d = make_loop(w, body, n, shared, successor);
    if (d == nullptr)
      return no_memory_for_loop("nth_spawn_n");
    enter(w);
    push_front(w, d);
    leave_sharing(w);
    return NTH_OK;
  }
  block *b = take_block_outside();
  nth_desc *d = nullptr;
  if (b != nullptr) {
    outside_scope outside;
    d = make_loop(outside.get(), body, n, shared, successor);
  }
  if (d == nullptr) {
    if (b != nullptr)
      give_block_outside(b);
    return no_memory_for_loop("nth_spawn_n");
  }
  send_outside(0, d, b, queue_end::front);
  return NTH_OK;
}

struct loop_call {
  long begin;
  long end;
  root_function body;
  void *shared;
  nth_schedule schedule;
  long grain;
};

// A share for each other worker; what nobody can be given, for want of memory, stays: its first index.
long deal(loop_work &work, long begin, long end) noexcept {
  worker *w = current_worker();
  const long workers = the_runtime.workers;
  const long n = end - begin;
  long last = end;
  for (long k = workers - 1; k > 0; --k) {
    const long first = begin + n / workers * k + (n % workers * k) / workers;
    if (first == last)
      continue;
    nth_desc *d = make_share(w, &work, first, last);
    if (d == nullptr)
      break;
    set_state(d, thread_state::ready_fresh);
    enter(w);
    const long to = (w->id + k) % workers;
    push_outgoing(w, static_cast<int>(to), d, queue_end::front);
    leave_sharing(w);
    last = first;
  }
  enter(w);
  flush_outgoing(w);
  leave_sharing(w);
  return last;
}

void run_loop(const loop_call *c) {
  nth_spawn_record joined;
  joined.state = spawn_shared;
  counter claims{{}, c->begin, c->end, 0, 0};
  loop_work work{};
  work.shared = c->shared;
  work.joined = &joined;
  work.left = static_cast<unsigned long>(c->end - c->begin);
  work.body = c->body;
  work.grain = c->grain == 0 ? 1 : c->grain;
  work.least = work.grain;
  work.claims = &claims;
  work.kind = c->schedule == NTH_SCHEDULE_GUIDED      ? loop_kind::guided
              : c->schedule == NTH_SCHEDULE_FACTORING ? loop_kind::factoring
                                                      : loop_kind::pieces;
  if (work.kind != loop_kind::pieces)
    ++work.left; // for the share that is run here
  long end = c->end;
  if (c->schedule == NTH_SCHEDULE_EQUAL) {
    work.grain = LONG_MAX;
    work.least = 1;
    end = deal(work, c->begin, c->end);
  }
  const unsigned long done = run_share(&work, c->begin, end);
  if (done == 0 || !count_calls(&work, done))
    wait_spawned(&joined);
}

} // namespace

extern "C" NTH_API nth_status nth_spawn_n(void (*function)(long, void *), long n, void *shared,
                                          nth_desc *successor) {
  struct {
    root_function body;
    long n;
    void *shared;
    nth_desc *successor;
  } const it{reinterpret_cast<root_function>(function), n, shared, successor};
  return roomy(current_worker(), [&it] { return spawn_loop(it.body, it.n, it.shared, it.successor); });
}

extern "C" NTH_API nth_status nth_parallel_for(long begin, long end, void (*body)(long, long, void *),
                                               void *shared, nth_schedule schedule, long grain) {
  if (!up())
    return fail(NTH_ESTATE, "nth_parallel_for: the run-time is not up; call nth_init first");
  long n = 0;
  const char *wrong = body == nullptr                          ? "the body is NULL"
                      : end < begin                            ? "the end lies before the beginning"
                      : __builtin_sub_overflow(end, begin, &n) ? "the range has more than LONG_MAX indices"
                      : grain < 0                              ? "the grain is negative"
                      : static_cast<unsigned>(schedule) > NTH_SCHEDULE_FACTORING ? "unknown schedule"
                                                                                 : nullptr;
  if (wrong != nullptr)
    return fail(NTH_EINVAL, "nth_parallel_for: %s", wrong);
  if (n == 0)
    return NTH_OK;
  const loop_call c{begin, end, reinterpret_cast<root_function>(body), shared, schedule, grain};
  if (worker_or_null() == nullptr) {
    const long word = reinterpret_cast<long>(&c);
    return run_root(reinterpret_cast<root_function>(run_loop), 1, &word);
  }
  run_loop(&c);
  return NTH_OK;
}
