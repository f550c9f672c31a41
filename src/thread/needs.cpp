#include "thread/needs.hpp"

#include "os/os.hpp"
#include "thread/limits.hpp"

namespace nth::detail {

need_table the_needs;

namespace {

int flags_of_class(unsigned log2) noexcept {
  const unsigned r = stack_region(log2);
  return r == the_stacks.region() ? 0 : static_cast<int>(r + 1);
}

} // namespace

int class_for_need(long need) noexcept {
  for (unsigned log2 = smallest_used_log2; log2 <= largest_class_log2; ++log2) {
    const long lost = log2 < first_sparse_log2 ? static_cast<long>(sizeof(stack_top)) : lost_of_sparse;
    if ((1L << log2) - lost >= need)
      return flags_of_class(log2);
  }
  return -1;
}

int class_for_size(long bytes) noexcept {
  for (unsigned log2 = first_sparse_log2; log2 <= largest_class_log2; ++log2) {
    if (1L << log2 >= bytes)
      return flags_of_class(log2);
  }
  return -1;
}

need_entry *need_table::slot_of(void (*root)()) const noexcept {
  const auto key = reinterpret_cast<std::uintptr_t>(root);
  for (std::size_t i = (key >> 4) * 0x9e37'79b9'7f4a'7c15U >> 20 & mask;; i = (i + 1) & mask) {
    if (slots[i].root == root || slots[i].root == nullptr)
      return &slots[i];
  }
}

const need_entry *need_table::find(void (*root)()) const noexcept {
  if (slots == nullptr)
    return nullptr;
  const need_entry *e = slot_of(root);
  return e->root != nullptr ? e : nullptr;
}

void need_table::insert(const need_entry &e) noexcept {
  need_entry *slot = slot_of(e.root);
  used += slot->root == nullptr ? 1U : 0U;
  *slot = e;
}

bool need_table::add(const need_entry *entries, long count) noexcept {
  const std::size_t wanted = (used + static_cast<std::size_t>(count)) * 2;
  if (slots == nullptr || wanted > mask + 1) {
    std::size_t capacity = 64;
    while (capacity < wanted)
      capacity *= 2;
    auto *larger = static_cast<need_entry *>(os::map_pages(capacity * sizeof(need_entry)));
    if (larger == nullptr)
      return false;
    const need_table old = *this;
    slots = larger;
    mask = capacity - 1;
    used = 0;
    for (std::size_t i = 0; old.slots != nullptr && i <= old.mask; ++i) {
      if (old.slots[i].root != nullptr)
        insert(old.slots[i]);
    }
    if (old.slots != nullptr)
      os::unmap_pages(old.slots, (old.mask + 1) * sizeof(need_entry));
  }
  for (long i = 0; i < count; ++i)
    insert(entries[i]);
  return true;
}

long need_table::unbounded() const noexcept {
  long n = 0;
  for (std::size_t i = 0; slots != nullptr && i <= mask; ++i) {
    // A function and its stub are two entries.
    const bool stub =
        reinterpret_cast<std::uintptr_t>(slots[i].root) - the_limits.pool < the_limits.pool_bytes;
    n += slots[i].root != nullptr && slots[i].need == no_bound && !stub ? 1 : 0;
  }
  return n;
}

void need_table::choose_classes() noexcept {
  for (std::size_t i = 0; slots != nullptr && i <= mask; ++i) {
    need_entry &e = slots[i];
    if (e.root == nullptr)
      continue;
    // A root that cannot block leaves the scheduler's stack as it was, so it runs there; every root is
    // promised seven eighths of it.
    const bool in_place = !e.may_block && e.need <= static_cast<long>(the_stacks.size() / 8 * 7) - 4096;
    const int flags = in_place || e.need == no_bound ? 0 : class_for_need(e.need);
    e.flags = static_cast<std::uint8_t>(flags);
  }
}

} // namespace nth::detail
