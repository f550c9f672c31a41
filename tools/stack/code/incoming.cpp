#include "code/incoming.hpp"

#include <algorithm>

namespace nth::stack {

// An operand with an index, of which one part points into the frame: how far up the other may take it is known only if
// that is a number with a bound. (A displacement below may belong to an array above: `b.w[i - 20]`.)
bool incoming_arguments::reaches_above_by_index(const state &s, const memory_operand &m) const {
  const bool base = is_general(m.base) && s.at(m.base).kind == value_kind::stack;
  const bool index = s.at(m.index).kind == value_kind::stack;
  if (!base && !index)
    return false;
  const value &other = base ? s.at(m.index) : is_general(m.base) ? s.at(m.base) : value{};
  constexpr std::int64_t small = 1 << 24;
  if (index || !other.is_range() || other.lo < 0 || other.hi > small)
    return true;
  const std::int64_t lowest = least_below_cfa(s.at(m.base)) - m.displacement - other.hi * m.scale;
  return lowest < static_cast<std::int64_t>(m.size);
}

void incoming_arguments::before(const instruction &i, const state &s) {
  const memory_operand &m = i.memory;
  if (m.size == 0 || m.segment || i.kind == op::lea)
    return;
  if (is_general(m.index) && reaches_above_by_index(s, m)) {
    known_ = false;
    return;
  }
  const value where = address_of(s, m);
  if (where.kind == value_kind::stack) {
    const std::int64_t lowest = least_below_cfa(where);
    constexpr std::int64_t return_address = 8;
    if (where.is_exact_stack() && lowest == return_address && i.from_memory && m.size == 8 &&
        i.kind != op::pop && i.kind != op::push) // a realigned frame repeats it for unwinders
      reads_return_address_ = true;
    if (lowest > 0 || where.is_exact_stack())
      bytes_ = std::max(bytes_, static_cast<std::int64_t>(m.size) - lowest);
    else // an index that may reach beyond what lies below
      known_ = false;
    return;
  }
  for (const reg r : {m.base, m.index}) {
    if (!is_general(r))
      continue;
    // An index into what begins above. Below, it is an array of its own, which it does not leave.
    if (points_above(s.at(r), m.displacement))
      known_ = false;
    // A frame pointer that was lost.
    if (r == reg::rbp && m.displacement >= 8 && s.at(r).kind != value_kind::stack) {
      const cfa_row *row = d_.rows.row_at(i.at);
      known_ = known_ && (row == nullptr || row->base != cfa_base::rbp);
    }
  }
}

void incoming_arguments::after(const instruction &i, const state &s) {
  for (unsigned r = 0; r < 16; ++r) {
    const auto at = static_cast<reg>(r);
    const bool written = i.to == at || (i.writes >> r & 1U) != 0;
    if (written && at != reg::rsp && i.kind != op::pop && points_above(s.at(at), 0))
      known_ = false;
  }
  if (least_below_cfa(s.rsp()) < 0)
    known_ = false;
}

} // namespace nth::stack
