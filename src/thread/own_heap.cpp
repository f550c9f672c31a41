#include "thread/own_heap.hpp"

#include "base/error.hpp"
#include "base/spinlock.hpp"
#include "thread/create.hpp"

#include <cerrno>
#include <pthread.h>

namespace nth::detail {

open_area slots_in_use;

namespace {

spinlock open_lock;
iso::slot_setting wanted_slots;

class keep_errno {
public:
  ~keep_errno() { errno = before; }

private:
  int before{errno};
};

pthread_mutex_t rank_lock = PTHREAD_MUTEX_INITIALIZER; // its holder may wait for other ranks
iso::heap *rank_heap;

} // namespace

iso::heap *own_heap(const nth_desc *d) noexcept {
  if ((flags_of(d) & flag_many) == 0)
    return nullptr;
  kept_words kept;
  read_kept(d->succ, kept);
  return kept.heap();
}

iso::heap *make_own_heap(worker *w, nth_desc *d, bool may_suspend, iso::heap_error &why) noexcept {
  iso::heap *h = iso::make_heap(d, may_suspend, why);
  if (h == nullptr)
    return nullptr;
  if (may_suspend)
    w = current_worker(); // it may have moved on to another one
  kept_words kept{d->succ != nullptr ? 1 : 0, false, {reinterpret_cast<long>(d->succ)}};
  const bool many = (flags_of(d) & flag_many) != 0;
  if (many)
    read_kept(d->succ, kept);
  kept.has_heap = true;
  kept.word[kept.successors] = reinterpret_cast<long>(h);
  nth_desc *list = make_kept(w, kept);
  if (list == nullptr) {
    iso::end_heap(h);
    why = iso::heap_error::no_memory;
    return nullptr;
  }
  nth_desc *old = d->succ;
  d->succ = list;
  if (many)
    release_spill(w, old);
  else
    __atomic_fetch_or(&d->flags, flag_many, __ATOMIC_RELAXED);
  return h;
}

namespace {

[[gnu::cold, gnu::noinline]] void report_overrun(const nth_desc *d, const void *block) noexcept {
  char name[160];
  misuse(NTH_EINVAL,
         "the block at %p of nth_isomalloc has been written behind its end; its thread (root %s) ends", block,
         describe_function(reinterpret_cast<const void *>(d->root), name, sizeof name));
}

} // namespace

void give_up_heap(worker *w, nth_desc *d) noexcept {
  if ((flags_of(d) & flag_many) == 0)
    return;
  kept_words kept;
  read_kept(d->succ, kept);
  if (!kept.has_heap)
    return;
  stack_top *const here = top_here();
  if (here->heap == hint_of(kept.heap()))
    here->heap = 0;
  if (const void *block = iso::find_overrun(kept.heap())) [[unlikely]]
    report_overrun(d, block);
  iso::end_heap(kept.heap());
  if (kept.successors > 1)
    return forget_kept_heap(d->succ);
  // One alone is told as that of any thread.
  release_spill(w, d->succ);
  d->succ = kept.successors == 1 ? reinterpret_cast<nth_desc *>(kept.word[0]) : nullptr;
  __atomic_fetch_and(&d->flags, static_cast<std::uint8_t>(~flag_many), __ATOMIC_RELAXED);
}

rank_heap_scope::rank_heap_scope() noexcept { pthread_mutex_lock(&rank_lock); }
rank_heap_scope::~rank_heap_scope() noexcept { pthread_mutex_unlock(&rank_lock); }

iso::heap *rank_heap_scope::get() const noexcept { return rank_heap; }

iso::heap *rank_heap_scope::make(iso::heap_error &why) noexcept {
  if (rank_heap == nullptr)
    rank_heap = iso::make_heap(nullptr, false, why);
  return rank_heap;
}

void set_slots(const iso::slot_setting &wanted, bool check) noexcept {
  wanted_slots = wanted;
  iso::checking = check;
}

[[gnu::noinline]] bool open_slots() noexcept {
  lock_scope scope(open_lock);
  if (slots_in_use.begin.load(std::memory_order_relaxed) != 0)
    return true;
  const keep_errno kept; // advice may be refused, which is no failure
  if (!iso::the_slots.open(wanted_slots, wanted_slots.base != 0))
    return false;
  if (!iso::open_heaps()) {
    iso::the_slots.close();
    return false;
  }
  slots_in_use.bytes = iso::the_slots.bytes();
  slots_in_use.begin.store(iso::the_slots.base(), std::memory_order_release);
  return true;
}

void close_slots() noexcept {
  rank_heap = nullptr; // it lies in the slots
  if (slots_in_use.begin.load(std::memory_order_relaxed) == 0)
    return;
  slots_in_use.begin.store(0, std::memory_order_relaxed);
  iso::close_heaps();
  iso::the_slots.close();
}

} // namespace nth::detail
