#include "code/value.hpp"

#include <algorithm>
#include <numeric>

namespace nth::stack {
namespace {

// Joins beyond this many widen at once what still grows, so that loops end.
constexpr unsigned patient = 3;
constexpr unsigned patient_with_depth = 12;

bool overlap(std::int64_t a, std::int64_t a_size, std::int64_t b, std::int64_t b_size) noexcept {
  // [-a, -a + a_size) and [-b, -b + b_size)
  return -a < -b + b_size && -b < -a + a_size;
}

value join_numbers(const value &a, const value &b, unsigned times) noexcept {
  const bool same_name = a.id == b.id && a.delta == b.delta;
  const bool same_width = a.width == b.width;
  if (!same_width || !a.is_range() || !b.is_range() || times > patient) {
    value v = of_kind(value_kind::unknown);
    v.id = same_name && a.delta == 0 ? a.id : 0;
    return v;
  }
  value v = number(std::min(a.lo, b.lo), std::max(a.hi, b.hi));
  v.width = a.width;
  v.loose = a.loose || b.loose;
  v.id = same_name ? a.id : 0;
  v.delta = same_name ? a.delta : 0;
  std::int64_t apart = 0;
  if (__builtin_sub_overflow(std::max(a.lo, b.lo), v.lo, &apart) || apart > 0xffffffff)
    apart = 1;
  v.stride = std::gcd(std::gcd(a.stride, b.stride), static_cast<std::uint32_t>(apart));
  return v;
}

value join_stacks(value a, value b, const frame_anchors &anchors, unsigned times) noexcept {
  if (a.anchor != b.anchor) {
    a = anchors.from_cfa(a);
    b = anchors.from_cfa(b);
  }
  const std::int64_t lo = std::min(a.lo, b.lo);
  const std::int64_t hi = std::max(a.hi, b.hi);
  const bool grows = hi > a.hi || lo < a.lo;
  if (!grows || times <= patient_with_depth)
    return on_stack(a.anchor, lo, hi);
  // Without a bound `lo` tells nothing more: it stays, lest a loop that pops goes on for ever.
  return on_stack(a.anchor, a.lo, far);
}

value meeting_of(const value &a, const value &b, const frame_anchors &anchors, unsigned times) noexcept {
  if (a == b)
    return a;
  if (a.kind == value_kind::stack && b.kind == value_kind::stack)
    return join_stacks(a, b, anchors, times);
  if (a.kind == value_kind::number && b.kind == value_kind::number)
    return join_numbers(a, b, times);
  // A switch whose default is where its table is told from.
  const auto base_of = [](const value &target, const value &n) {
    return target.kind == value_kind::target && n.is_constant() && static_cast<address>(n.lo) == target.base;
  };
  if (base_of(a, b) || base_of(b, a)) {
    value v = base_of(a, b) ? a : b;
    v.or_base = true;
    return v;
  }
  if (a.kind == value_kind::target && b.kind == value_kind::target) {
    value v = a;
    v.or_base = b.or_base;
    if (v == b) {
      v.or_base = true;
      return v;
    }
  }
  // Pointers that other code stored stay that, whichever it is; 0 is none.
  const auto given = [](const value &v) {
    return v.kind == value_kind::unknown || v.kind == value_kind::first_word || v.kind == value_kind::field ||
           v.kind == value_kind::member || (v.kind == value_kind::word && v.width == 8) ||
           (v.kind == value_kind::number && v.is_constant() && v.lo == 0);
  };
  value v = given(a) && given(b) ? value{} : computed_from(a, b);
  v.id = a.id == b.id && a.delta == b.delta && a.delta == 0 ? a.id : 0;
  return v;
}

} // namespace

value either(const value &a, const value &b, const frame_anchors &anchors) noexcept {
  return meeting_of(a, b, anchors, 0);
}

void state::set(reg r, const value &v) noexcept {
  registers[static_cast<std::size_t>(r)] = v;
  if (compared.kind == comparison::what::with_constant && compared.left == r && compared.subject.id != 0)
    compared.left = reg::none;
  else if (compared.left == r || compared.right == r)
    compared = {};
  if (bounded.base == r)
    bounded = {};
}

// Memory was written: what a comparison with it told may be no more.
void state::forget_words() noexcept {
  bounded = {};
  if (compared.kind == comparison::what::slot_with_constant ||
      compared.kind == comparison::what::word_with_constant)
    compared = {};
}

const stack_slot *state::slot(std::uint16_t anchor, std::int64_t depth) const noexcept {
  for (std::size_t i = 0; i < slot_count; ++i)
    if (slots[i].anchor == anchor && slots[i].depth == depth)
      return &slots[i];
  return nullptr;
}

void state::store(std::uint16_t anchor, std::int64_t depth, std::uint8_t size, const value &v) noexcept {
  std::uint8_t kept = 0;
  for (std::size_t i = 0; i < slot_count; ++i) {
    const stack_slot &s = slots[i];
    // A slot of another anchor may be the same place; the compiler keeps what it saved apart.
    const bool gone =
        s.anchor == anchor ? overlap(s.depth, s.size, depth, size) : s.held.kind != value_kind::stack;
    if (!gone)
      slots[kept++] = s;
  }
  slot_count = kept;
  forget_words();
  const bool telling = v.kind != value_kind::unknown || v.id != 0;
  if (!telling || v.kind == value_kind::computed || size > 8 || size < 4)
    return;
  if (slot_count == most_slots) {
    std::size_t out = most_slots;
    for (std::size_t i = 0; i < slot_count && out == most_slots; ++i)
      if (slots[i].held.kind != value_kind::stack)
        out = i;
    if (out == most_slots)
      return;
    std::move(slots.begin() + static_cast<std::ptrdiff_t>(out) + 1, slots.begin() + slot_count,
              slots.begin() + static_cast<std::ptrdiff_t>(out));
    --slot_count;
  }
  slots[slot_count++] = {.anchor = anchor, .size = size, .depth = depth, .held = v};
}

void state::forget_numbers() noexcept {
  std::uint8_t kept = 0;
  for (std::size_t i = 0; i < slot_count; ++i)
    if (slots[i].held.kind == value_kind::stack)
      slots[kept++] = slots[i];
  slot_count = kept;
  forget_words();
}

void state::forget_below(const value &top) noexcept {
  std::uint8_t kept = 0;
  for (std::size_t i = 0; i < slot_count; ++i)
    if (slots[i].anchor != top.anchor || slots[i].depth <= top.hi)
      slots[kept++] = slots[i];
  slot_count = kept;
}

void state::forget_anchor(std::uint16_t anchor, const frame_anchors &anchors) noexcept {
  for (value &v : registers)
    if (v.kind == value_kind::stack && v.anchor == anchor)
      v = anchors.from_cfa(v);
  std::uint8_t kept = 0;
  for (std::size_t i = 0; i < slot_count; ++i) {
    if (slots[i].anchor == anchor)
      continue;
    value &v = slots[i].held;
    if (v.kind == value_kind::stack && v.anchor == anchor)
      v = anchors.from_cfa(v);
    slots[kept++] = slots[i];
  }
  slot_count = kept;
}

void state::forget_id(std::uint32_t id) noexcept {
  if (compared.subject.id == id)
    compared = {};
  for (value &v : registers)
    if (v.id == id)
      v.forget_name();
  for (std::size_t i = 0; i < slot_count; ++i)
    if (slots[i].held.id == id)
      slots[i].held.forget_name();
}

bool join(state &into, const state &from, const frame_anchors &anchors, unsigned times) noexcept {
  bool changed = false;
  const auto meet = [&](value &to, const value &other) {
    if (to == other)
      return;
    const value v = meeting_of(to, other, anchors, times);
    if (!(v == to)) {
      to = v;
      changed = true;
    }
  };
  for (std::size_t i = 0; i < into.registers.size(); ++i)
    meet(into.registers[i], from.registers[i]);
  std::uint8_t kept = 0;
  for (std::size_t i = 0; i < into.slot_count; ++i) {
    stack_slot s = into.slots[i];
    const stack_slot *same = from.slot(s.anchor, s.depth);
    const bool both = same != nullptr && same->size == s.size;
    if (both)
      meet(s.held, same->held);
    if (both && (s.held.kind != value_kind::unknown || s.held.id != 0))
      into.slots[kept++] = s;
  }
  if (kept != into.slot_count) {
    into.slot_count = kept;
    changed = true;
  }
  if (!(into.bounded == from.bounded) && into.bounded.base != reg::none) {
    into.bounded = {};
    changed = true;
  }
  if (!(into.compared == from.compared) && into.compared.kind != comparison::what::none) {
    into.compared = {};
    changed = true;
  }
  return changed;
}

} // namespace nth::stack
