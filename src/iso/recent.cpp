// Chains of blocks that were freed of late: how they end.
#include "iso/recent.hpp"

namespace nth::detail::iso {

void mend_recent(heap *h, unsigned c) noexcept {
  h->recent[c] = 0;
  for (chunk *k = h->chunks; k != nullptr; k = k->next)
    for (std::uint64_t used = all_units & ~k->free_units; used != 0;) {
      const auto begin = static_cast<unsigned>(std::countr_zero(used));
      const unsigned here = k->units[begin].size_class();
      run *r = run_at(k, begin);
      if (here == c && r->prev == nullptr && r->free.load(std::memory_order_relaxed) != 0)
        push_run(h, c, r);
      used &= ~units_mask(begin, class_units[here]);
    }
}

void empty_recent(heap *h, unsigned c) noexcept {
  if (c >= recent_classes)
    return;
  for (std::uintptr_t block = h->recent[c]; block != 0;) {
    auto *words = at<recent_words>(block);
    const std::uint64_t link = words->link;
    chunk *k = chunk_of(block);
    const block_place p = find_block(k, block);
    // The links may be old ones that were written back, and lead round.
    if (words->check + link != block || !p.exact || p.in.size_class() != c ||
        (run_at(k, p.in.begin())->free.load(std::memory_order_relaxed) >> p.index & 1) == 0) {
      mend_recent(h, c);
      return;
    }
    words->check = ~words->check;
    run *r = run_at(k, p.in.begin());
    if (r->prev == nullptr)
      push_run(h, c, r);
    block = link >> 16;
  }
  h->recent[c] = 0;
}

} // namespace nth::detail::iso
