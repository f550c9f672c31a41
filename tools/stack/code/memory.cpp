// What a memory operand addresses, and what is loaded from there.
#include "code/step.hpp"

namespace nth::stack {

value address_of(const state &s, const memory_operand &m) noexcept {
  if (m.segment || m.base == reg::other || m.index == reg::other)
    return {};
  value sum = constant(m.displacement);
  if (m.base != reg::none && m.base == m.index)
    return add(scale(s.at(m.base), m.scale + 1), sum);
  if (m.index != reg::none)
    sum = add(scale(s.at(m.index), m.scale), sum);
  return m.base == reg::none ? sum : add(s.at(m.base), sum);
}

value load(const state &s, const memory_operand &m, unsigned bytes) noexcept {
  value small = bytes < 8 && bytes > 0 ? loose_number((std::int64_t{1} << (8 * bytes)) - 1) : value{};
  if (m.segment || bytes == 0)
    return small;
  const bounded_word &w = s.bounded;
  if (w.base == m.base && w.base != reg::none && m.index == reg::none && w.displacement == m.displacement &&
      w.width == bytes)
    small = number(w.lo, w.hi);
  const value where = address_of(s, m);
  if (where.is_exact_stack()) {
    const stack_slot *slot = s.slot(where.anchor, where.lo);
    if (slot == nullptr || slot->size < bytes)
      return small;
    if (bytes == 8 || slot->held.kind == value_kind::number) {
      if (bytes == 8)
        return slot->held;
      const range r = low_range(slot->held, bytes);
      value n = number(r.lo, r.hi);
      n.loose = slot->held.loose || r.lo != slot->held.lo || r.hi != slot->held.hi;
      return n;
    }
    return small;
  }
  if (where.kind == value_kind::number && where.width == 8 && (bytes == 8 || bytes == 4)) {
    value word = of_kind(value_kind::word);
    word.width = static_cast<std::uint8_t>(bytes);
    word.lo = where.lo;
    word.stride = where.stride;
    word.loose = where.loose;
    word.hi = where.hi == far ? 0 : where.stride == 0 ? 1 : (where.hi - where.lo) / where.stride + 1;
    return word;
  }
  if (bytes != 8 || m.index != reg::none || !is_general(m.base))
    return small;
  const value &base = s.at(m.base);
  if (base.kind == value_kind::stack || base.kind == value_kind::number)
    return small;
  value v = of_kind(m.displacement == 0 ? value_kind::first_word : value_kind::member);
  if (base.kind == value_kind::first_word) {
    v.kind = value_kind::field;
    v.lo = base.lo;
  }
  if (v.kind != value_kind::first_word && __builtin_add_overflow(v.lo, m.displacement, &v.lo))
    return small;
  return v;
}

} // namespace nth::stack
