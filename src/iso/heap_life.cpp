// Heaps as a whole: their begin, their end, their way to another process.
#include "iso/chunk_owners.hpp"
#include "iso/recent.hpp"

namespace nth::detail::iso {

namespace {

template <class F>
void for_each_chunk(heap *h, F f) noexcept {
  for (chunk *list : {h->chunks, h->larges})
    for (chunk *k = list; k != nullptr; k = k->next)
      f(k);
}

bool begins_slot(const chunk *k) noexcept {
  return the_slots.address_of(the_slots.slot_of(address_of(k))) == address_of(k);
}

} // namespace

bool open_heaps() noexcept { return the_owners.open(the_slots.base(), the_slots.bytes()); }
void close_heaps() noexcept { the_owners.close(); }

heap *make_heap(nth_desc *owner, bool may_suspend, heap_error &why) noexcept {
  slot first = no_slot;
  const taking got = obtain(1, may_suspend, first);
  if (got != taking::ok) {
    why = got == taking::no_memory ? heap_error::no_memory : heap_error::no_slots;
    return nullptr;
  }
  const std::uintptr_t begin = the_slots.address_of(first);
  heap *h = at<heap>(begin + heap_offset);
  h->owner = owner;
  h->fast_limit = checking ? 0 : most_small;
  for (run *&r : h->with_room)
    r = nullptr;
  for (std::uint64_t &block : h->recent)
    block = 0;
  h->chunks = nullptr;
  h->larges = nullptr;
  for (chunk *&k : h->by_room)
    k = nullptr;
  h->spare = 0;
  h->fresh = begin;
  h->fresh_end = begin + the_slots.slot_bytes();
  h->slots = 1;
  h->remote.store(nullptr, std::memory_order_relaxed);
  cut_chunk(h);
  return h;
}

void end_heap(heap *h) noexcept {
  for_each_chunk(h, [](chunk *k) { the_owners.clear(k); });
  // The lists lie in what is given: slots that are cut into chunks are kept in mind by their first chunk alone.
  chunk *first = nullptr;
  for (chunk *k = h->chunks, *next = nullptr; k != nullptr; k = next) {
    next = k->next;
    if (begins_slot(k)) {
      k->prev = first;
      first = k;
    }
  }
  for (chunk *k = h->larges, *next = nullptr; k != nullptr; k = next) {
    next = k->next;
    const slot_range slots = large_of(k).slots;
    the_slots.give(slots.first, slots.count);
  }
  for (chunk *k = first, *next = nullptr; k != nullptr; k = next) {
    next = k->prev;
    the_slots.give(the_slots.slot_of(address_of(k)), 1);
  }
}

void collect(heap *h) noexcept {
  drain(h);
  reclaim(h);
  if (h->spare != 0)
    give_spare(h);
}

void depart(heap *h) noexcept {
  for_each_chunk(h, [](chunk *k) { the_owners.clear(k); });
  drain(h); // nobody adds to it any more
  for (unsigned c = 0; c < recent_classes; ++c)
    empty_recent(h, c); // what lies in free blocks stays behind
}

void arrive(heap *h) noexcept {
  for_each_chunk(h, [h](chunk *k) { the_owners.set(k, h); });
}

void for_each_block(heap *h, void (*visit)(void *context, void *block, std::size_t bytes),
                    void *context) noexcept {
  drain(h);
  for (chunk *k = h->chunks; k != nullptr; k = k->next)
    for (std::uint64_t used = all_units & ~k->free_units; used != 0;) {
      const auto begin = static_cast<unsigned>(std::countr_zero(used));
      const unsigned c = k->units[begin].size_class();
      const run *r = run_at(k, begin);
      for (std::uint64_t taken = facts[c].all & ~r->free.load(std::memory_order_relaxed); taken != 0;
           taken &= taken - 1)
        visit(context,
              at<void>(first_block(r) + static_cast<unsigned>(std::countr_zero(taken)) * facts[c].size),
              facts[c].size);
      used &= ~units_mask(begin, class_units[c]);
    }
  for (chunk *k = h->larges; k != nullptr; k = k->next)
    visit(context, at<void>(large_of(k).block), large_bytes(k));
}

void for_each_header(heap *h, void (*visit)(void *context, void *begin, std::size_t bytes),
                     void *context) noexcept {
  for (chunk *k = h->chunks; k != nullptr; k = k->next)
    visit(context, k, k == chunk_of(address_of(h)) ? heap_offset + sizeof(heap) : heap_offset);
  for (chunk *k = h->larges; k != nullptr; k = k->next)
    visit(context, k, large_offset);
}

void for_each_range(heap *h, void (*visit)(void *context, slot_range r), void *context) noexcept {
  for (chunk *k = h->chunks; k != nullptr; k = k->next)
    if (begins_slot(k))
      visit(context, {the_slots.slot_of(address_of(k)), 1});
  for (chunk *k = h->larges; k != nullptr; k = k->next)
    visit(context, large_of(k).slots);
}

heap_numbers count(heap *h) noexcept {
  heap_numbers n{0, 0, 0};
  for_each_block(
      h,
      [](void *to, void *block, std::size_t bytes) {
        auto *sum = static_cast<heap_numbers *>(to);
        ++sum->blocks;
        sum->live_bytes += checking ? sealed_size(address_of(block), bytes) : bytes;
      },
      &n);
  n.slots = h->slots;
  return n;
}

} // namespace nth::detail::iso
