// Workers without work: they search for a while, then sleep in the kernel. An idle process uses no CPU.
//
// Argument, no lost wake-up. A worker that goes to sleep (1) says so (asleep, sleepers), (2) stops being
// counted as searching, (3) poisons and asks all others, (4) passes a barrier, (5) looks everywhere once
// more. Work that appears before (5) at a place is found there. Work that appears after (4) in a private
// part meets the poison (leave_sharing); in an inbox, by a sequentially consistent CAS after which the
// sender reads asleep and sleepers (wake_after_send). A waker that relies on a searching worker read
// `searching` before (2), hence published before (5). Guarded by test/api/work_conserving_test.cpp.
#include "arch/arch.hpp"
#include "base/error.hpp"
#include "os/os.hpp"
#include "thread/create.hpp"
#include "thread/dispatch.hpp"
#include "thread/ready.hpp"
#include "thread/runtime.hpp"
#include "thread/victims.hpp"

namespace nth::detail {

namespace {

constexpr std::uint64_t first_patience_ns = 800; // what an owner between two threads needs to answer
constexpr std::uint64_t longest_pause_ns = 8000;
constexpr std::uint64_t shortest_doze_ns = 20'000;
// A busy rank looks for messages so often at most: about 40 us of a processor of 2.6 GHz.
constexpr std::uint64_t busy_poll_ticks = 100'000;

spinlock sleep_lock; // one worker at a time goes through the last look, for it asks all others

bool wake(worker *v) noexcept {
  if (v->asleep.load(std::memory_order_relaxed) == 0 || v->asleep.exchange(0, std::memory_order_seq_cst) == 0)
    return false;
  // Counted on its behalf, so that further pushes do not wake further workers meanwhile.
  the_runtime.searching.fetch_add(1, std::memory_order_seq_cst);
  the_runtime.sleepers.fetch_sub(1, std::memory_order_seq_cst);
  os::futex_wake(reinterpret_cast<std::uint32_t *>(&v->asleep), 1);
  return true;
}

std::uint64_t next_random(worker *w) noexcept { // xorshift64 (Marsaglia 2003)
  std::uint64_t x = w->random;
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  return w->random = x;
}

bool something_public(const worker *v) noexcept {
  return v->inbox.load(std::memory_order_seq_cst) != nullptr || v->front_ring.length() > 0 ||
         v->back_ring.length() > 0;
}

// True: nothing is ready anywhere, as far as this worker can tell.
bool last_look(worker *w) noexcept {
  runtime &rt = the_runtime;
  bool nothing = true;
  for (int i = 0; i < rt.workers; ++i) {
    worker *v = rt.at(i);
    if (v == w)
      continue;
    v->request.fetch_or(request_poison, std::memory_order_seq_cst);
    nothing = ask(w, v) && nothing;
  }
  if (one_sided_barrier)
    os::barrier_all();
  for (int i = 0; i < rt.workers && nothing; ++i) {
    worker *v = rt.at(i);
    nothing = !something_public(v) && (v == w || look_into(w, v) == look::nothing);
  }
  // Asks that were not needed any more.
  for (int i = 0; i < rt.workers && !nothing; ++i) {
    if (i != w->id)
      withdraw(w, rt.at(i));
  }
  return nothing && !rt.stopping.load(std::memory_order_seq_cst);
}

void report_deadlock() noexcept {
  struct tally {
    long blocked;
    char text[400];
    std::size_t used;
  } t{0, {}, 0};
  for_each_live(
      [](nth_desc *d, void *context) noexcept {
        auto *sum = static_cast<tally *>(context);
        if (state_of(d) != thread_state::blocked && state_of(d) != thread_state::waits)
          return;
        ++sum->blocked;
        if (sum->blocked > 8 || sum->used + 100 > sizeof sum->text)
          return;
        char name[80];
        describe_function(reinterpret_cast<void *>(d->root), name, sizeof name);
        for (const char *c = " "; *c != 0; ++c)
          sum->text[sum->used++] = *c;
        for (const char *c = name; *c != 0; ++c)
          sum->text[sum->used++] = *c;
      },
      &t);
  if (t.blocked == 0)
    return;
  t.text[t.used] = 0;
  misuse(NTH_EDEADLOCK,
         "deadlock: every worker is idle and %ld threads are blocked; roots of the first:%s. Call "
         "nth_report_blocked for all of them",
         t.blocked, t.text);
}

// Ranks of a cluster run look for messages while they idle: one worker that sleeps wakes up for it, soon after a
// message, later and later without one. True: it was no longer asleep, or is not now.
bool doze(worker *w) noexcept {
  runtime &rt = the_runtime;
  auto *const asleep = reinterpret_cast<std::uint32_t *>(&w->asleep);
  int nobody_polls = -1;
  if (rt.seat.progress == nullptr ||
      !rt.poller.compare_exchange_strong(nobody_polls, w->id, std::memory_order_acq_rel)) {
    os::futex_wait(asleep, 1);
    return w->asleep.load(std::memory_order_acquire) == 0;
  }
  bool done = false;
  for (std::uint64_t pause = shortest_doze_ns; !done && w->asleep.load(std::memory_order_acquire) == 1;) {
    done = rt.seat.progress();
    if (done)
      break;
    pause = pause < rt.seat.poll_ns ? pause : rt.seat.poll_ns;
    os::futex_wait_for(asleep, 1, pause);
    pause *= 2;
  }
  rt.poller.store(-1, std::memory_order_release);
  return done || w->asleep.load(std::memory_order_acquire) == 0;
}

// Not asleep any more, by itself. Else a waker has done the accounts.
void wake_up(worker *w) noexcept {
  runtime &rt = the_runtime;
  if (w->asleep.exchange(0, std::memory_order_seq_cst) == 1) {
    rt.searching.fetch_add(1, std::memory_order_seq_cst);
    rt.sleepers.fetch_sub(1, std::memory_order_seq_cst);
  }
}

// Returns when the worker was woken, or at once when there may be work.
void sleep(worker *w) noexcept {
  runtime &rt = the_runtime;
  sleep_lock.lock();
  w->asleep.store(1, std::memory_order_seq_cst);
  rt.sleepers.fetch_add(1, std::memory_order_seq_cst);
  rt.searching.fetch_sub(1, std::memory_order_seq_cst);
  if (!last_look(w)) {
    sleep_lock.unlock();
    return wake_up(w);
  }
  const bool all = rt.sleepers.load(std::memory_order_seq_cst) == rt.workers;
  sleep_lock.unlock();
  if (all && rt.report_deadlock && rt.seat.progress == nullptr)
    report_deadlock();
  count_one(w->sleeps);
  while (w->asleep.load(std::memory_order_acquire) == 1) {
    if (doze(w))
      break;
  }
  wake_up(w); // messages came
}

void pause_ns(worker *w, std::uint64_t duration) noexcept {
  const std::uint64_t until = os::now_ns() + duration;
  do {
    for (int i = 0; i < 16 && w->inbox.load(std::memory_order_relaxed) == nullptr; ++i)
      os::pause();
    if (the_runtime.crowded)
      os::yield_processor();
  } while (os::now_ns() < until && w->inbox.load(std::memory_order_relaxed) == nullptr);
}

// Blocks of all others, far ones too, before private parts: a whole block from afar costs less than asking
// a neighbour for what it is about to run.
bool search_others(worker *w) noexcept {
  const int workers = the_runtime.workers;
  const std::uint64_t random = next_random(w);
  if (try_others(w, workers, random, [w](int id) noexcept { return steal(w, the_runtime.at(id)); }))
    return true;
  return try_others(w, workers, random, [w](int id) noexcept {
    worker *v = the_runtime.at(id);
    return v->active.load(std::memory_order_relaxed) != 0 && steal_private(w, v, first_patience_ns);
  });
}

} // namespace

void look_for_messages(worker *w) noexcept {
  runtime &rt = the_runtime;
  if (rt.seat.progress == nullptr)
    return;
  const std::uint64_t now = arch::ticks();
  if (now - rt.polled_at.load(std::memory_order_relaxed) < busy_poll_ticks)
    return;
  rt.polled_at.store(now, std::memory_order_relaxed);
  leave(w); // it may take long: others need not wait for it
  static_cast<void>(rt.seat.progress());
  enter(w);
}

void wake_one(worker *prefer) noexcept {
  runtime &rt = the_runtime;
  if (rt.sleepers.load(std::memory_order_seq_cst) == 0)
    return;
  if (prefer != nullptr && wake(prefer))
    return;
  for (int i = 0; i < rt.workers; ++i) {
    if (wake(rt.at(i)))
      return;
  }
}

void wake_after_send(worker *to) noexcept {
  runtime &rt = the_runtime;
  if (rt.sleepers.load(std::memory_order_seq_cst) == 0)
    return;
  if (wake(to))
    return;
  // `to` is awake but may be busy for long; a searching worker would empty its inbox.
  if (rt.searching.load(std::memory_order_seq_cst) == 0)
    wake_one(nullptr);
}

nth_desc *next_or_idle(worker *w) noexcept {
  runtime &rt = the_runtime;
  stack_top *const here = top_here();
  here->thread = nullptr;
  if (here->above != nullptr) [[unlikely]]
    release_segments(w, here);
  send_returns(w);
  send_stacks(w);
  send_blocks(w);
  w->active.store(0, std::memory_order_relaxed);
  rt.searching.fetch_add(1, std::memory_order_seq_cst);
  nth_desc *d = nullptr;
  std::uint64_t idle_since = os::now_ns();
  std::uint64_t pause = 500;
  for (;;) {
    enter(w);
    d = pop(w);
    leave(w);
    if (d != nullptr || rt.stopping.load(std::memory_order_relaxed))
      break;
    if (search_others(w))
      continue;
    if (rt.seat.progress != nullptr && rt.seat.progress()) [[unlikely]] {
      idle_since = os::now_ns();
      pause = 500;
      continue;
    }
    if (os::now_ns() - idle_since >= rt.spin_ns) {
      sleep(w);
      idle_since = os::now_ns();
      pause = 500;
      continue;
    }
    pause_ns(w, pause);
    pause = pause < longest_pause_ns ? pause * 2 : longest_pause_ns;
  }
  w->active.store(1, std::memory_order_relaxed);
  // Go on with the search by proxy: what was found may be the first of many. In a cluster run that one also looks for
  // messages, when it finds nothing and sleeps: this worker may have been the one that did (test ranks.busy).
  if (rt.searching.fetch_sub(1, std::memory_order_seq_cst) == 1 && d != nullptr)
    wake_one(nullptr);
  return d;
}

} // namespace nth::detail
