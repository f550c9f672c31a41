// Chunks of a heap and the units in them: where runs come from.
#include "iso/chunk_owners.hpp"
#include "iso/recent.hpp"

namespace nth::detail::iso {

namespace {

constexpr int most_tries = 16; // chunks of a bin that are looked at, where not all have what is wanted

// The bin of a chunk: of each doubling it is asked whether a series so long is left.
unsigned bin_of(std::uint64_t free) noexcept {
  if (free == 0)
    return no_bin;
  if (free == all_units)
    return bins - 1;
  unsigned log2 = 0;
  for (unsigned shift = 1; (free &= free >> shift) != 0; shift *= 2)
    ++log2;
  return log2;
}

// Bits where `count` set bits begin.
std::uint64_t series(std::uint64_t bits, unsigned count) noexcept {
  for (unsigned have = 1; have < count;) {
    const unsigned more = have < count - have ? have : count - have;
    bits &= bits >> more;
    have += more;
  }
  return bits;
}

std::uint64_t multiples(unsigned step) noexcept { // bits at multiples of it, a power of two up to 32
  return ~std::uint64_t{0} / ((std::uint64_t{1} << step) - 1);
}

void leave_bin(heap *h, chunk *k) noexcept {
  if (k->bin == no_bin)
    return;
  (k->bin_prev != nullptr ? k->bin_prev->bin_next : h->by_room[k->bin]) = k->bin_next;
  if (k->bin_next != nullptr)
    k->bin_next->bin_prev = k->bin_prev;
  k->bin = no_bin;
}

void find_bin(heap *h, chunk *k) noexcept {
  const unsigned bin = bin_of(k->free_units);
  if (bin == k->bin)
    return;
  leave_bin(h, k);
  if (bin == no_bin)
    return;
  k->bin = static_cast<std::uint8_t>(bin);
  k->bin_prev = nullptr;
  k->bin_next = h->by_room[bin];
  if (k->bin_next != nullptr)
    k->bin_next->bin_prev = k;
  h->by_room[bin] = k;
}

std::uintptr_t slot_begin(std::uintptr_t address) noexcept {
  return the_slots.address_of(the_slots.slot_of(address));
}

// Of a slot, what is cut into chunks.
std::uintptr_t end_of_cut(const heap *h, std::uintptr_t begin) noexcept {
  const std::uintptr_t end = begin + the_slots.slot_bytes();
  return end == h->fresh_end ? h->fresh : end;
}

// Of the chunks that are looked at in the lowest bin that has room, the one that has least to spare: what is long stays
// whole. Where `begins` is the result's first bit; null: no chunk that was looked at has room.
chunk *find_room(heap *h, unsigned count, std::uint64_t begins, std::uint64_t &found) noexcept {
  chunk *best = nullptr;
  unsigned least = units_of_chunk;
  for (auto bin = static_cast<unsigned>(std::bit_width(count)) - 1; bin < bins && best == nullptr; ++bin) {
    int tries = most_tries;
    for (chunk *k = h->by_room[bin]; k != nullptr && tries != 0 && least != 0; k = k->bin_next, --tries) {
      std::uint64_t left = series(k->free_units, count);
      const std::uint64_t here = left & begins;
      if (here == 0)
        continue;
      unsigned spare = 0;
      for (; spare < least && (left &= left >> 1) != 0; ++spare)
        ;
      if (spare >= least)
        continue;
      least = spare;
      best = k;
      found = here;
    }
  }
  return best;
}

// Null: there is no room.
run *take_units(heap *h, unsigned c, unsigned step) noexcept {
  const unsigned count = class_units[c];
  std::uint64_t found = 0;
  chunk *k = find_room(h, count, multiples(step), found);
  if (k == nullptr)
    return nullptr;
  const auto begin = static_cast<unsigned>(std::countr_zero(found));
  if (h->spare == slot_begin(address_of(k)))
    h->spare = 0;
  k->free_units &= ~units_mask(begin, count);
  find_bin(h, k);
  for (unsigned i = begin; i < begin + count; ++i)
    k->units[i] = {begin, c};
  run *r = run_at(k, begin);
  r->free.store(facts[c].all, std::memory_order_relaxed);
  r->remote.store(0, std::memory_order_relaxed);
  r->prev = nullptr;
  return r;
}

void give_units(heap *h, chunk *k, unsigned begin, unsigned count) noexcept {
  for (unsigned i = begin; i < begin + count; ++i)
    k->units[i] = {0, no_class};
  k->free_units |= units_mask(begin, count);
  find_bin(h, k);
}

bool take_slot(heap *h, bool may_suspend, heap_error &why) noexcept {
  slot first = no_slot;
  const taking got = obtain(1, may_suspend, first);
  if (got != taking::ok) {
    why = got == taking::no_memory ? heap_error::no_memory : heap_error::no_slots;
    return false;
  }
  ++h->slots;
  h->fresh = the_slots.address_of(first);
  h->fresh_end = h->fresh + the_slots.slot_bytes();
  return true;
}

// Gives the slot back unless a thread still tells of a free in one of its chunks: that comes by drain().
void retire(heap *h, std::uintptr_t begin, std::uintptr_t end) noexcept {
  bool told = false;
  heap *const owner = the_owners.owner(the_owners.index(begin)); // null while the heap departs
  for (std::uintptr_t a = begin; a != end; a += chunk_bytes) {
    the_owners.clear(at<chunk>(a));
    told |= at<chunk>(a)->remote_runs.load(std::memory_order_relaxed) != 0;
  }
  for (std::uintptr_t a = begin; a != end; a += chunk_bytes) {
    chunk *k = at<chunk>(a);
    if (told) {
      the_owners.set(k, owner);
      continue;
    }
    leave_bin(h, k);
    unlink(h->chunks, k);
  }
  if (told)
    return;
  if (end == h->fresh)
    h->fresh = h->fresh_end = 0;
  give_slots(h, {the_slots.slot_of(begin), 1});
}

} // namespace

void init_chunk(chunk *k, chunk_kind kind) noexcept {
  k->free_units = kind == chunk_kind::small ? all_units : 0;
  k->bin = no_bin;
  k->kind = kind;
  k->remote_next.store(nullptr, std::memory_order_relaxed);
  k->remote_runs.store(0, std::memory_order_relaxed);
  for (unit &u : k->units)
    u = {0, no_class};
}

void cut_chunk(heap *h) noexcept {
  chunk *k = at<chunk>(h->fresh);
  h->fresh += chunk_bytes;
  init_chunk(k, chunk_kind::small);
  link(h->chunks, k);
  find_bin(h, k);
  the_owners.set(k, h);
}

void link(chunk *&list, chunk *k) noexcept {
  k->prev = nullptr;
  k->next = list;
  if (list != nullptr)
    list->prev = k;
  list = k;
}

void unlink(chunk *&list, chunk *k) noexcept {
  (k->prev != nullptr ? k->prev->next : list) = k->next;
  if (k->next != nullptr)
    k->next->prev = k->prev;
}

void give_spare(heap *h) noexcept {
  const std::uintptr_t begin = h->spare;
  h->spare = 0;
  retire(h, begin, end_of_cut(h, begin));
}

void give_slots(heap *h, slot_range r) noexcept {
  h->slots -= static_cast<std::size_t>(r.count);
  the_slots.give(r.first, r.count);
}

run *take_run(heap *h, unsigned c, unsigned step, bool may_suspend, heap_error &why) noexcept {
  run *r = take_units(h, c, step);
  if (r == nullptr && h->fresh == h->fresh_end) {
    reclaim(h);
    r = take_units(h, c, step);
  }
  if (r == nullptr && (h->fresh != h->fresh_end || take_slot(h, may_suspend, why))) {
    cut_chunk(h);
    r = take_units(h, c, step);
  }
  return r;
}

void run_changed(heap *h, chunk *k, unsigned begin, std::uint64_t now) noexcept {
  run *r = run_at(k, begin);
  const unsigned c = k->units[begin].size_class();
  if (c < list_classes) {
    if (now != facts[c].all) {
      if (r->prev == nullptr)
        push_run(h, c, r);
      return;
    }
    empty_recent(h, c);
    // The only one of its class stays. Others come before it, so an entirely free run is the last of its list.
    run *head = first_with_room(h, c);
    if (r->prev == nullptr) {
      if (head == nullptr) {
        push_run(h, c, r);
        return;
      }
    } else if (head == r) {
      if (r->next == nullptr)
        return;
      pop_run(h, c, r);
    } else {
      r->prev->next = r->next;
      (r->next != nullptr ? r->next : head)->prev = r->prev;
    }
  }
  give_units(h, k, begin, class_units[c]);
}

void chunk_changed(heap *h, chunk *k) noexcept {
  if (k->free_units != all_units)
    return;
  const std::uintptr_t begin = slot_begin(address_of(k));
  if (begin == slot_begin(address_of(h)) || begin == h->spare)
    return;
  const std::uintptr_t end = end_of_cut(h, begin);
  for (std::uintptr_t a = begin; a != end; a += chunk_bytes)
    if (at<chunk>(a)->free_units != all_units)
      return;
  if (h->spare == 0)
    h->spare = begin;
  else
    retire(h, begin, end);
}

void reclaim(heap *h) noexcept {
  for (unsigned c = 0; c < list_classes; ++c) {
    if (h->with_room[c] == nullptr)
      continue;
    run *last = h->with_room[c]->prev;
    if (last->free.load(std::memory_order_relaxed) != facts[c].all)
      continue;
    empty_recent(h, c);
    run *head = h->with_room[c];
    if (last == head) {
      h->with_room[c] = nullptr;
    } else {
      last->prev->next = nullptr;
      head->prev = last->prev;
    }
    chunk *k = chunk_of(address_of(last));
    give_units(h, k, k->units[(first_block(last) / unit_bytes) % units_of_chunk].begin(), class_units[c]);
    chunk_changed(h, k);
  }
}

} // namespace nth::detail::iso
