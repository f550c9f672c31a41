// What a conditional branch tells: the range of what was compared.
#include "code/step.hpp"

#include <algorithm>

namespace nth::stack {
namespace {

struct bounds {
  std::int64_t lo = 0;
  std::int64_t hi = far;
  bool known = false;
};

bounds bounds_of(condition when, bool taken, std::int64_t n) noexcept {
  switch (when) {
  case condition::above:
    return taken ? bounds{n + 1, far, true} : bounds{0, n, true};
  case condition::above_equal:
    return taken ? bounds{n, far, true} : bounds{0, n - 1, n > 0};
  case condition::below:
    return taken ? bounds{0, n - 1, n > 0} : bounds{n, far, true};
  case condition::below_equal:
    return taken ? bounds{0, n, true} : bounds{n + 1, far, true};
  case condition::equal:
    return taken ? bounds{n, n, true} : bounds{};
  case condition::not_equal:
    return taken ? bounds{} : bounds{n, n, true};
  default:
    return {};
  }
}

// v with its low `width` bytes in the bounds. What tells where a pointer comes from tells more than its range.
value bounded(const value &v, const bounds &b, unsigned width) noexcept {
  if (v.kind != value_kind::number && v.kind != value_kind::unknown && v.kind != value_kind::computed)
    return v;
  const std::int64_t most = width >= 8 ? far - 1 : (std::int64_t{1} << (8 * width)) - 1;
  const bool whole = v.is_range() && v.width == 8 && v.lo >= 0 && v.hi <= most;
  const bool same = v.is_range() && v.width == width;
  if (v.kind == value_kind::number && !whole && !same && v.hi == far)
    return v;
  // A lower bound alone of a number of 8 bytes leaves what is above 2^63.
  if (width >= 8 && b.hi == far && !whole)
    return v;
  const range r = whole || same ? range{v.lo, v.hi} : range{0, most};
  value n = number(std::max(r.lo, b.lo), std::min(r.hi, b.hi));
  if (n.lo > n.hi)
    return v; // this way is never taken
  n.width = static_cast<std::uint8_t>(whole ? 8 : width);
  n.loose = n.hi == r.hi && (v.loose || !(whole || same));
  n.id = v.id;
  n.delta = v.delta;
  if (v.stride > 1 && n.lo == v.lo && n.lo != n.hi)
    n.stride = v.stride;
  return n;
}

// A number told to be within [lo, hi], signed.
value narrowed(const value &v, std::int64_t lo, std::int64_t hi) noexcept {
  value n = v;
  n.lo = std::max(v.lo, lo);
  n.hi = std::min(v.hi, hi);
  if (n.lo > n.hi)
    return v;
  n.loose = v.loose && n.hi == v.hi;
  n.stride = n.lo == n.hi ? 0 : n.lo == v.lo ? v.stride : 1;
  return n;
}

bool refine_registers(state &s, const instruction &i, bool taken) noexcept {
  const comparison c = s.compared;
  if (c.width != 8 || (i.when != condition::equal && i.when != condition::not_equal))
    return true;
  const value left = s.at(c.left);
  const value right = s.at(c.right);
  if (left.kind != value_kind::stack || right.kind != value_kind::stack || left.anchor != right.anchor)
    return true;
  const bool equal = (i.when == condition::equal) == taken;
  // The probes of a large frame (-fstack-clash-protection) end here where there are none to make. Only of rsp: another
  // register may hold what was loaded from memory that a callee has changed.
  const bool is_rsp = c.left == reg::rsp || c.right == reg::rsp;
  if (is_rsp && left.is_exact_stack() && right.is_exact_stack())
    return (left.lo == right.lo) == equal;
  if (!equal)
    return true;
  // Of a place on the stack told by two registers, the one told exactly counts.
  if (left.is_exact_stack())
    s.registers[static_cast<std::size_t>(c.right)] = left;
  else if (right.is_exact_stack())
    s.registers[static_cast<std::size_t>(c.left)] = right;
  return true;
}

void refine_numbers(state &s, const instruction &i, bool taken) noexcept {
  const comparison c = s.compared;
  const bounds b = bounds_of(i.when, taken, c.number);
  if (!b.known)
    return;
  if (c.kind == comparison::what::word_with_constant) {
    const std::int64_t most = c.width >= 8 ? far : (std::int64_t{1} << (8 * c.width)) - 1;
    if (c.width < 8 || b.hi != far)
      s.bounded = {
          .base = c.left, .width = c.width, .displacement = c.depth, .lo = b.lo, .hi = std::min(b.hi, most)};
    return;
  }
  if (c.kind == comparison::what::slot_with_constant) {
    const stack_slot *slot = s.slot(c.anchor, c.depth);
    const value old = slot != nullptr ? slot->held : value{};
    s.store(c.anchor, c.depth, c.width, bounded(old, b, c.width));
    s.compared = c;
    return;
  }
  const value v = bounded(c.subject, b, c.width);
  if (c.left != reg::none)
    s.registers[static_cast<std::size_t>(c.left)] = v;
  const std::uint32_t id = v.id;
  if (id == 0)
    return;
  // Copies share the low 4 bytes. Those at a distance are numbers that did not wrap, and so is what was compared.
  const bool told = c.width <= 4 || b.hi <= 0xffffffff;
  const bool whole = v.is_range() && v.width == 8;
  for (std::size_t r = 0; r < s.registers.size(); ++r) {
    value &copy = s.registers[r];
    if (r == static_cast<std::size_t>(c.left))
      continue;
    if (copy.id != id)
      continue;
    const std::int64_t apart = std::int64_t{copy.delta} - v.delta;
    if (apart == 0 && told && copy.delta == 0)
      copy = bounded(copy, b, std::min<unsigned>(c.width, 4));
    else if (whole && copy.is_range() && copy.width == 8)
      copy = narrowed(copy, v.lo + apart, v.hi + apart);
  }
}

} // namespace

bool refine(state &s, const instruction &i, bool taken) noexcept {
  if (s.compared.kind == comparison::what::registers)
    return refine_registers(s, i, taken);
  if (s.compared.kind != comparison::what::none)
    refine_numbers(s, i, taken);
  return true;
}

} // namespace nth::stack
