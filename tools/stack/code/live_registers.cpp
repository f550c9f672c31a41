#include "code/live_registers.hpp"

#include <algorithm>

namespace nth::stack {

namespace {

constexpr std::array<reg, 6> kept = {reg::rbx, reg::rbp, reg::r12, reg::r13, reg::r14, reg::r15};

kept_registers kept_in(std::uint16_t general) noexcept {
  kept_registers m = 0;
  for (unsigned n = 0; n < kept.size(); ++n)
    if ((general >> static_cast<unsigned>(kept[n]) & 1U) != 0)
      m = static_cast<kept_registers>(m | 1U << n);
  return m;
}

// Backwards, from what follows an instruction to what goes before it.
kept_registers before(const instruction &i, kept_registers live) noexcept {
  const bool whole = i.width >= 4 || i.kind == op::pop || i.kind == op::leave;
  const kept_registers written = whole ? kept_in(i.writes) : kept_registers{0};
  return static_cast<kept_registers>((live & ~written) | kept_in(i.reads));
}

class liveness {
public:
  explicit liveness(const depth_analysis &d) : d_(d), blocks_(d.ways.blocks), at_begin_(blocks_.size()) {
    for (bool more = true; more;) {
      more = false;
      for (std::uint32_t b = static_cast<std::uint32_t>(blocks_.size()); b-- > 0;) {
        if (d_.reached[b] == 0)
          continue;
        kept_registers live = at_end(b);
        for (std::uint32_t i = blocks_[b].last; i-- > blocks_[b].first;)
          live = before(d_.ways.code[i], live);
        more = more || live != at_begin_[b];
        at_begin_[b] = live;
      }
    }
  }

  // After the call at `at`, in block b.
  [[nodiscard]] kept_registers after(std::uint32_t b, address at) const {
    kept_registers live = at_end(b);
    for (std::uint32_t i = blocks_[b].last; i-- > blocks_[b].first && d_.ways.code[i].at != at;)
      live = before(d_.ways.code[i], live);
    return live;
  }

private:
  [[nodiscard]] kept_registers at_end(std::uint32_t b) const {
    kept_registers live = 0;
    for (const std::uint32_t to : blocks_[b].ways)
      live = static_cast<kept_registers>(live | at_begin_[to]);
    if (blocks_[b].next != no_block)
      live = static_cast<kept_registers>(live | at_begin_[blocks_[b].next]);
    return live;
  }

  const depth_analysis &d_;
  const std::vector<block> &blocks_;
  std::vector<kept_registers> at_begin_;
};

} // namespace

void find_live_registers(const depth_analysis &d, const std::vector<std::uint32_t> &block_of_call,
                         function_facts &f) {
  f.untouched = all_kept;
  for (std::uint32_t b = 0; b < d.ways.blocks.size(); ++b)
    for (std::uint32_t i = d.ways.blocks[b].first; d.reached[b] != 0 && i < d.ways.blocks[b].last; ++i)
      f.untouched = static_cast<kept_registers>(f.untouched & ~kept_in(d.ways.code[i].writes));
  if (hides_code(f.reason) || d.gave_up) {
    f.untouched = 0;
    return; // all are live
  }
  const liveness live(d);
  for (std::size_t i = 0; i < block_of_call.size(); ++i)
    f.calls[i].live = live.after(block_of_call[i], f.calls[i].at);
}

} // namespace nth::stack
