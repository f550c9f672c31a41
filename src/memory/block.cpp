#include "memory/block.hpp"

namespace nth::detail {

block_memory the_blocks;

namespace {

constexpr std::size_t refill_count = 16;

void release_blocks(chain<block> c) noexcept {
  while (block *b = c.pop())
    the_area.give_back(b, 0, nullptr);
}

} // namespace

void block_memory::open(int nodes, int workers) noexcept {
  pools.open(nodes, workers, bounds, release_blocks, nullptr);
}

block *block_memory::refill(block_list &list, int home) noexcept {
  const auto node_of = [](const block *b) { return the_area.node_of(b); };
  if (block *b = refill_from(pools, list, home >> the_area.node_shift, node_of))
    return b;
  std::size_t count = refill_count;
  auto *fresh =
      static_cast<block *>(the_area.carve(static_cast<unsigned>(region::blocks), home, sizeof(block), count));
  if (fresh == nullptr)
    return nullptr;
  chain<block> some;
  for (std::size_t n = count; n > 0; --n)
    some.push(fresh + (n - 1));
  list.fill(some);
  return list.pop();
}

} // namespace nth::detail
