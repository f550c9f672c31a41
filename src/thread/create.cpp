#include "thread/create.hpp"

#include "memory/annotate.hpp"
#include "thread/ready.hpp"

namespace nth::detail {

std::atomic<long> descriptors_made{0};

namespace {

// So many descriptors are carved before those that were just returned by other workers are used again:
// their lines still lie in another core's cache.
constexpr std::size_t carve_floor = 2048;

void free_queue_push(worker *w, block *b) noexcept {
  b->next = nullptr;
  if (w->free_last == nullptr)
    w->free_first = b;
  else
    w->free_last->next = b;
  w->free_last = b;
}

block *free_queue_pop(worker *w) noexcept {
  block *b = w->free_first;
  if (b != nullptr) {
    w->free_first = b->next;
    if (w->free_first == nullptr)
      w->free_last = nullptr;
  }
  return b;
}

void use_block(worker *w, block *full) noexcept {
  if (w->free_descs != nullptr)
    give_block(w, w->free_descs);
  w->free_descs = full;
  w->free_count = full->hi;
  w->free_room = block_size;
  for (std::uint32_t i = 1; i <= prefetch_distance; ++i)
    __builtin_prefetch(full->slot[(full->hi - i) % block_size], 1);
  // The block behind it is read in a while: its lines may lie in another core's cache.
  if (const block *behind = w->free_first) {
    for (std::uint32_t i = 0; i < sizeof(block); i += 64)
      __builtin_prefetch(reinterpret_cast<const char *>(behind) + i, 1);
  }
}

// Fills the window with fresh descriptors. Policy dos: each at the top of a stack of its own.
bool carve_descs(worker *w) noexcept {
  if (w->free_descs == nullptr) {
    w->free_descs = take_block(w);
    if (w->free_descs == nullptr)
      return false;
    w->free_room = block_size;
  }
  block *b = w->free_descs;
  if (the_runtime.policy == NTH_POLICY_DOS) {
    stack_top *top = the_stacks.carve(w->id);
    if (top == nullptr)
      return false;
    b->slot[0] = reinterpret_cast<nth_desc *>(top) - 1;
    w->free_count = 1;
  } else {
    std::size_t count = block_size;
    auto *d = static_cast<nth_desc *>(the_area.carve(region::descriptors, w->id, sizeof(nth_desc), count));
    if (d == nullptr)
      return false;
    // Taken from the top of the window, so the lowest address goes last.
    for (std::size_t i = 0; i < count; ++i)
      b->slot[i] = d + (count - 1 - i);
    w->free_count = static_cast<std::uint32_t>(count);
  }
  descriptors_made.fetch_add(w->free_count, std::memory_order_relaxed);
  return true;
}

void take_returned(worker *w) noexcept {
  if (w->returned.load(std::memory_order_relaxed) == nullptr)
    return;
  block *youngest = w->returned.exchange(nullptr, std::memory_order_acquire);
  block *oldest = nullptr;
  while (youngest != nullptr) {
    block *next = youngest->next;
    youngest->next = oldest;
    oldest = youngest;
    youngest = next;
  }
  while (oldest != nullptr) {
    block *next = oldest->next;
    free_queue_push(w, oldest);
    oldest = next;
  }
}

void send_home(block *&r, int home) noexcept {
  // Push only, and taken as a whole: no ABA. Release: the home sees the members.
  worker *to = the_runtime.at(home);
  block *head = to->returned.load(std::memory_order_relaxed);
  do
    r->next = head;
  while (!to->returned.compare_exchange_weak(head, r, std::memory_order_release, std::memory_order_relaxed));
  r = nullptr;
}

} // namespace

nth_desc *take_desc_slow(worker *w) noexcept {
  if (nth_desc *d = w->loose) {
    w->loose = d->next;
    return d;
  }
  take_returned(w);
  const bool few = the_runtime.policy != NTH_POLICY_DOS &&
                   the_area.at(region::descriptors, w->id).carved() < carve_floor * sizeof(nth_desc);
  if (!(few && carve_descs(w))) {
    if (block *b = free_queue_pop(w))
      use_block(w, b);
    else if (!carve_descs(w))
      return nullptr;
  }
  return w->free_descs->slot[--w->free_count];
}

void release_desc_slow(worker *w, nth_desc *d) noexcept {
  block *fresh = take_block(w);
  if (fresh == nullptr) {
    d->next = w->loose;
    w->loose = d;
    return;
  }
  if (w->free_descs != nullptr) {
    w->free_descs->hi = w->free_count;
    free_queue_push(w, w->free_descs);
  }
  w->free_descs = fresh;
  w->free_room = block_size;
  w->free_count = 1;
  fresh->slot[0] = d;
}

void release_foreign_slow(worker *w, nth_desc *d, int home) noexcept {
  block *&r = w->returns_to[home];
  if (r == nullptr) {
    r = take_block(w);
    if (r == nullptr) {
      d->next = w->loose;
      w->loose = d;
      return;
    }
    r->hi = 0;
  }
  r->slot[r->hi++] = d;
  if (r->hi == block_size)
    send_home(r, home);
}

void send_returns(worker *w) noexcept {
  for (int home = 0; home < the_runtime.homes(); ++home) {
    if (w->returns_to[home] != nullptr)
      send_home(w->returns_to[home], home);
  }
}

// ---- Creation ----------------------------------------------------------------------------------------------

namespace {

long *spill_word(nth_desc *cell, int i) noexcept {
  if (i >= 2)
    return &cell->args[i - 2];
  return reinterpret_cast<long *>(i == 0 ? reinterpret_cast<void *>(&cell->root)
                                         : reinterpret_cast<void *>(&cell->succ));
}

// A list of cells that holds n words; nullptr: no memory, and nothing is held.
nth_desc *make_spill(worker *w, int n) noexcept {
  nth_desc *head = nullptr;
  for (int cells = (n + spill_words - 1) / spill_words; cells > 0; --cells) {
    nth_desc *cell = take_desc(w);
    if (cell == nullptr) {
      release_spill(w, head);
      return nullptr;
    }
    set_state(cell, thread_state::spill);
    cell->next = head;
    head = cell;
  }
  return head;
}

void write_spill(nth_desc *cell, int n, const long *from) noexcept {
  for (int i = 0; i < n; ++i) {
    if (i != 0 && i % spill_words == 0)
      cell = cell->next;
    *spill_word(cell, i % spill_words) = from[i];
  }
}

} // namespace

void release_spill(worker *w, nth_desc *cell) noexcept {
  while (cell != nullptr) {
    nth_desc *next = cell->next;
    set_state(cell, thread_state::free);
    release_desc(w, cell);
    cell = next;
  }
}

void read_spill(const nth_desc *cell, int from, int count, long *to) noexcept {
  for (int i = 0; i < from / spill_words; ++i)
    cell = cell->next;
  for (int i = from; i < from + count; ++i) {
    if (i != from && i % spill_words == 0)
      cell = cell->next;
    *to++ = *spill_word(const_cast<nth_desc *>(cell), i % spill_words);
  }
}

nth_desc *create_thread(worker *w, const creation &c) noexcept {
  nth_desc *d = take_desc(w);
  if (d == nullptr)
    return nullptr;
  std::uint8_t flags = 0;
  if (c.narg <= 4) [[likely]] {
    for (int i = 0; i < c.narg; ++i)
      d->args[i] = c.args[i];
  } else {
    nth_desc *words = make_spill(w, c.narg);
    if (words == nullptr) {
      release_desc(w, d);
      return nullptr;
    }
    write_spill(words, c.narg, c.args);
    flags = flag_spilled;
    d->args[0] = reinterpret_cast<long>(words);
    d->args[1] = c.narg;
  }
  nth_desc *succ = nullptr;
  if (c.nsucc <= 1) [[likely]] {
    succ = c.nsucc == 1 ? c.succ[0] : nullptr;
  } else {
    nth_desc *list = make_spill(w, c.nsucc + 1);
    if (list == nullptr) {
      if ((flags & flag_spilled) != 0)
        release_spill(w, reinterpret_cast<nth_desc *>(d->args[0]));
      release_desc(w, d);
      return nullptr;
    }
    long words[NTH_MAX_SUCCESSORS + 1];
    words[0] = c.nsucc;
    for (int i = 0; i < c.nsucc; ++i)
      words[i + 1] = reinterpret_cast<long>(c.succ[i]);
    write_spill(list, c.nsucc + 1, words);
    flags |= flag_many;
    succ = list;
  }
  prepare_desc(d, c.root, succ, c.ndep, flags);
  return d;
}

} // namespace nth::detail
