#include "memory/block.hpp"

#include "memory/area.hpp"

namespace nth::detail {

block_pool the_blocks;

bool block_pool::refill(block_list &list, int home) noexcept {
  {
    lock_scope scope(lock);
    for (std::size_t n = 0; n < refill_count; ++n) {
      block *b = pooled.pop();
      if (b == nullptr)
        break;
      list.push(b);
    }
  }
  if (list.count > 0)
    return true;
  std::size_t count = refill_count;
  auto *fresh = static_cast<block *>(the_area.carve(region::blocks, home, sizeof(block), count));
  if (fresh == nullptr)
    return false;
  for (std::size_t n = 0; n < count; ++n)
    list.push(fresh + n);
  return true;
}

void block_pool::trim(block_list &list) noexcept {
  lock_scope scope(lock);
  for (long n = list.count / 2; n > 0; --n)
    pooled.push(list.pop());
}

} // namespace nth::detail
