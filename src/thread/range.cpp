#include "thread/range.hpp"

#include "os/os.hpp"
#include "thread/create.hpp"
#include "thread/desc_memory.hpp"
#include "thread/ready.hpp"

#include <climits>
#include <cstddef>

namespace nth::detail {

namespace {

static_assert(sizeof(loop_work) <= sizeof(nth_desc) &&
              offsetof(loop_work, state) == offsetof(nth_desc, state));

using index_function = void (*)(long, void *);
using piece_function = void (*)(long, long, void *);
using root_function = void (*)();

struct range_record : nth_spawn_record {
  loop_work *work;
  long lo; // the next index that its owner will claim
  long hi;
};

long load(const long &x) noexcept { return __atomic_load_n(&x, __ATOMIC_RELAXED); }
void store(long &x, long value) noexcept { __atomic_store_n(&x, value, __ATOMIC_RELAXED); }

range_record *as_range(nth_spawn_record *r) noexcept { return static_cast<range_record *>(r); }
const range_record *as_range(const nth_spawn_record *r) noexcept {
  return static_cast<const range_record *>(r);
}

bool has_counter(const loop_work *work) noexcept {
  return work->kind == loop_kind::guided || work->kind == loop_kind::factoring;
}

void finish_loop(loop_work *work) noexcept {
  if (work->kind != loop_kind::indices)
    return finish_spawned(work->joined);
  worker *w = current_worker();
  nth_desc *s = work->successor;
  auto *cell = reinterpret_cast<nth_desc *>(work);
  set_state(cell, thread_state::free);
  release_desc(w, cell);
  if (s == nullptr)
    return;
  enter(w);
  count_ended(w, s);
  leave_sharing(w);
}

// The root of a share that has become a thread.
void share_root(long at, long lo, long hi) {
  auto *work = reinterpret_cast<loop_work *>(at);
  const unsigned long done = run_share(work, lo, hi);
  if (done != 0 && count_calls(work, done))
    finish_loop(work);
}

// From here on others may take all of it, and end the loop: of the work no more is read before an index is claimed.
void link(range_record &r) noexcept {
  worker *w = current_worker();
  nth_spawn_record *prev = w->fork.top;
  r.function = nullptr;
  r.state = spawn_private;
  r.prev = prev;
  __atomic_store_n(&prev->next, static_cast<nth_spawn_record *>(&r), __ATOMIC_RELAXED);
  __atomic_store_n(&w->fork.top, static_cast<nth_spawn_record *>(&r), __ATOMIC_RELEASE);
}

// After a call: what it has spawned it must have synced, so r is the youngest record again, or, where its share has
// been taken over by others, there is none.
inline void expect_synced(range_record &r) noexcept {
  worker *w = current_worker();
  if (w->fork.top != &r && linked_spawned(w)) [[unlikely]]
    report_forgotten_in_loop(w, &r);
}

[[gnu::noinline]] void unlink(range_record &r) noexcept {
  worker *w = current_worker();
  enter(w);
  if (is_private(w, &r))
    unlink_private(w, &r);
  else
    unlink_shared(w, &r);
  leave_sharing(w);
}

// A thief asks, a worker sleeps, or there is no membarrier: the claim of n indices from `first` on once more, with
// the private part entered. How many there are left to claim: n, fewer, or, where fewer than `least` would be left
// behind, those too.
[[gnu::noinline]] long claim_slow(range_record &r, long first, long n, long least) noexcept {
  worker *w = current_worker();
  store(r.lo, first);
  w->keep = &r;
  enter(w);
  w->keep = nullptr;
  const long rest = load(r.hi) - first;
  if (n > rest || rest - n < least)
    n = rest;
  if (n > 0)
    store(r.lo, first + n);
  leave_sharing(w);
  return n;
}

// The next n indices for the owner of the record; how many it has got. As nth_sync: what others may have taken
// is read before, what they are to see is written, and then it is looked at whether they want anything. Whoever
// was here between the two leaves the owner one index only, so the end of more than one is read once more; nor may
// what that thief has left behind the claim be less than the least piece.
inline long claim(range_record &r, long first, long n, long least) noexcept {
  const long rest = load(r.hi) - first;
  if (n > rest || rest - n < least)
    n = rest;
  if (n <= 0)
    return n;
  store(r.lo, first + n);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (current_worker()->request.load(std::memory_order_acquire) != 0) [[unlikely]]
    return claim_slow(r, first, n, least);
  if (const long after = load(r.hi) - first - n; n > 1 && after != 0 && after < least) [[unlikely]]
    return claim_slow(r, first, n, least);
  return n;
}

unsigned long run_indices(range_record &r) {
  const auto body = reinterpret_cast<index_function>(r.work->body);
  void *shared = r.work->shared;
  unsigned long done = 0;
  const long lo = r.lo;
  link(r);
  for (long i = lo; claim(r, i, 1, 0) > 0; ++i) {
    body(i, shared);
    ++done;
    expect_synced(r);
  }
  return done;
}

// Pieces grow until one takes so long that a look at what others want, and at the clock, costs nothing beside it.
constexpr std::uint64_t short_piece_ns = 4000;

unsigned long run_pieces(range_record &r) {
  loop_work *work = r.work;
  const auto body = reinterpret_cast<piece_function>(work->body);
  void *shared = work->shared;
  const long least = work->least;
  long n = load(work->grain);
  unsigned long done = 0;
  std::uint64_t begun = os::now_ns();
  const long lo = r.lo;
  link(r);
  for (long i = lo, got = 0; (got = claim(r, i, n, least)) > 0; i += got) {
    body(i, i + got, shared);
    done += static_cast<unsigned long>(got);
    expect_synced(r);
    const std::uint64_t now = os::now_ns();
    if (now - begun < short_piece_ns && got == n && n < LONG_MAX / 2) {
      n *= 2;
      store(work->grain, n);
    }
    begun = now;
  }
  return done;
}

// The next piece of guided self-scheduling or factoring; false: none is left.
bool claim_counted(const loop_work *work, long &first, long &n) noexcept {
  counter &c = *work->claims;
  const lock_scope locked(c.lock);
  const long rest = c.end - c.next;
  const long workers = the_runtime.workers;
  if (rest == 0)
    return false;
  if (work->kind == loop_kind::guided) {
    n = rest / workers + (rest % workers != 0);
  } else {
    if (c.round_left == 0) {
      c.round_left = workers;
      c.round_size = rest / (2 * workers) + (rest % (2 * workers) != 0);
    }
    --c.round_left;
    n = c.round_size;
  }
  n = n > work->grain ? n : work->grain;
  n = n < rest ? n : rest;
  first = c.next;
  store(c.next, first + n);
  return true;
}

unsigned long run_counted(range_record &r) {
  const loop_work *work = r.work;
  link(r);
  const auto body = reinterpret_cast<piece_function>(work->body);
  unsigned long done = 0;
  for (long first = 0, n = 0; claim_counted(work, first, n); done += static_cast<unsigned long>(n)) {
    look_around();
    body(first, first + n, work->shared);
    expect_synced(r);
  }
  return done;
}

} // namespace

nth_desc *make_share(worker *w, loop_work *work, long lo, long hi) noexcept {
  nth_desc *d = take_desc(w);
  if (d == nullptr)
    return nullptr;
  prepare_desc(d, reinterpret_cast<root_function>(share_root), nullptr, 0, 0);
  d->args[0] = reinterpret_cast<long>(work);
  d->args[1] = lo;
  d->args[2] = hi;
  return d;
}

unsigned long run_share(loop_work *work, long lo, long hi) {
  range_record r;
  r.work = work;
  r.lo = lo;
  r.hi = hi;
  const unsigned long done = work->kind == loop_kind::indices ? run_indices(r)
                             : has_counter(work)              ? run_counted(r) + 1
                                                              : run_pieces(r);
  unlink(r);
  return done;
}

bool count_calls(loop_work *work, unsigned long done) noexcept {
  return __atomic_sub_fetch(&work->left, done, __ATOMIC_ACQ_REL) == 0;
}

range_offer offer_range(const nth_spawn_record *r, share_of how) noexcept {
  const range_record *range = as_range(r);
  const loop_work *work = range->work;
  // A counter is shared as a whole, by one more thread for each that asks another one.
  if (has_counter(work))
    return {load(work->claims->next) < work->claims->end, true, 0, 0};
  const long lo = load(range->lo);
  const long hi = load(range->hi);
  const long rest = hi - lo;
  if (how == share_of::keep_one)
    return {rest / 2 >= work->least, false, lo + rest / 2 + rest % 2, hi};
  if (rest <= 0)
    return {false, true, lo, hi};
  if (how == share_of::half && rest / 2 >= work->least)
    return {true, false, lo + rest / 2, hi};
  // Of fewer than two least pieces no half is taken, but all; nothing of less than one. That much is left only while
  // the owner is at a claim, which will see it: the first one of a short loop, or one that another thief has cut short.
  const bool any = how == share_of::all || rest >= work->least;
  return {any, any, lo, hi};
}

void share_range(nth_spawn_record *r, nth_desc *d, const range_offer &o) noexcept {
  range_record *range = as_range(r);
  if (has_counter(range->work))
    __atomic_fetch_add(&range->work->left, 1,
                       __ATOMIC_RELAXED); // the record's owner is not counted yet: it is not 0
  else
    store(range->hi, o.lo);
  prepare_desc(d, reinterpret_cast<root_function>(share_root), nullptr, 0, 0);
  d->args[0] = reinterpret_cast<long>(range->work);
  d->args[1] = o.lo;
  d->args[2] = o.hi;
}

} // namespace nth::detail
