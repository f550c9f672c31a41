#include "thread/create.hpp"

namespace nth::detail {

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

namespace {

constexpr long has_heap_bit = 1L << 32;

}

void read_kept(const nth_desc *cell, kept_words &to) noexcept {
  long head = 0;
  read_spill(cell, 0, 1, &head);
  to.successors = static_cast<int>(head);
  to.has_heap = (head & has_heap_bit) != 0;
  read_spill(cell, 1, to.count(), to.word);
}

void forget_kept_heap(nth_desc *cell) noexcept { *spill_word(cell, 0) &= ~has_heap_bit; }

nth_desc *make_kept(worker *w, const kept_words &from) noexcept {
  const int n = from.count();
  nth_desc *list = make_spill(w, n + 1);
  if (list == nullptr)
    return nullptr;
  long words[NTH_MAX_SUCCESSORS + 2];
  words[0] = from.successors | (from.has_heap ? has_heap_bit : 0);
  for (int i = 0; i < n; ++i)
    words[i + 1] = from.word[i];
  write_spill(list, n + 1, words);
  return list;
}

bool init_thread(worker *w, nth_desc *d, const creation &c) noexcept {
  std::uint8_t flags = stack_flags_of(w, c.root, c.narg > 4);
  if (c.narg <= 4) [[likely]] {
    for (int i = 0; i < c.narg; ++i)
      d->args[i] = c.args[i];
  } else {
    nth_desc *words = make_spill(w, c.narg);
    if (words == nullptr)
      return false;
    write_spill(words, c.narg, c.args);
    flags |= flag_spilled;
    d->args[0] = reinterpret_cast<long>(words);
    d->args[1] = c.narg;
  }
  nth_desc *succ = nullptr;
  if (c.nsucc <= 1) [[likely]] {
    succ = c.nsucc == 1 ? c.succ[0] : nullptr;
  } else {
    kept_words words{c.nsucc, false, {}};
    for (int i = 0; i < c.nsucc; ++i)
      words.word[i] = reinterpret_cast<long>(c.succ[i]);
    nth_desc *list = make_kept(w, words);
    if (list == nullptr) {
      if ((flags & flag_spilled) != 0)
        release_spill(w, reinterpret_cast<nth_desc *>(d->args[0]));
      return false;
    }
    flags |= flag_many;
    succ = list;
  }
  prepare_desc(d, c.root, succ, c.ndep, flags);
  return true;
}

nth_desc *create_thread(worker *w, const creation &c) noexcept {
  nth_desc *d = take_desc(w);
  if (d == nullptr || init_thread(w, d, c))
    return d;
  release_desc(w, d);
  return nullptr;
}

} // namespace nth::detail
