#include "code/cold.hpp"

namespace nth::stack {

void mark_cold(const code_map &map, const depth_analysis &d, const std::vector<std::uint32_t> &block_of_call,
               std::vector<call_site> &calls) {
  const std::vector<block> &blocks = d.ways.blocks;
  std::vector<std::vector<std::uint32_t>> before(blocks.size());
  std::vector<std::uint32_t> work;
  std::vector<std::uint8_t> warm(blocks.size());
  for (std::uint32_t b = 0; b < blocks.size(); ++b) {
    if (d.reached[b] == 0)
      continue;
    const block &k = blocks[b];
    for (const std::uint32_t to : k.ways)
      before[to].push_back(b);
    if (k.next != no_block)
      before[k.next].push_back(b);
    const bool leaves = k.how != block::end::stop && k.how != block::end::falls &&
                        (k.how == block::end::ret || (k.ways.empty() && k.next == no_block));
    if (leaves && warm[b] == 0) {
      warm[b] = 1;
      work.push_back(b);
    }
  }
  for (std::size_t i = 0; i < block_of_call.size(); ++i) {
    const call_site &c = calls[i];
    if (c.next == 0 && c.returns && warm[block_of_call[i]] == 0) {
      warm[block_of_call[i]] = 1;
      work.push_back(block_of_call[i]);
    }
  }
  while (!work.empty()) {
    const std::uint32_t b = work.back();
    work.pop_back();
    for (const std::uint32_t from : before[b])
      if (warm[from] == 0) {
        warm[from] = 1;
        work.push_back(from);
      }
  }
  for (std::size_t i = 0; i < block_of_call.size(); ++i) {
    call_site &c = calls[i];
    const std::uint32_t f = map.table.containing(c.at);
    const bool in_fragment = f != no_function && map.table.functions[f].kind == function_kind::fragment;
    c.cold = in_fragment || warm[block_of_call[i]] == 0;
  }
}

} // namespace nth::stack
