#include "code/value.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace nth::stack {
namespace {

constexpr std::int64_t word_max = 0xffffffff;

bool sum(std::int64_t a, std::int64_t b, std::int64_t &to) noexcept {
  return !__builtin_add_overflow(a, b, &to);
}

// A number of which all 8 bytes are told.
bool whole(const value &v) noexcept { return v.kind == value_kind::number && v.width == 8; }

std::uint32_t common_stride(const value &a, const value &b) noexcept { return std::gcd(a.stride, b.stride); }

bool may_be_code(const value &v) noexcept {
  constexpr std::int64_t first_page = 4096;
  return (v.kind == value_kind::number && v.lo >= first_page) || v.kind == value_kind::target ||
         (v.kind == value_kind::word && v.width == 4) || (v.kind == value_kind::computed && v.of_code);
}

value add_numbers(const value &a, const value &b) noexcept {
  value v = number(0, 0);
  v.stride = common_stride(a, b);
  v.loose = a.loose || b.loose;
  if (!sum(a.lo, b.lo, v.lo))
    return of_kind(value_kind::computed);
  if (a.hi == far || b.hi == far)
    v.hi = far;
  else if (!sum(a.hi, b.hi, v.hi))
    return of_kind(value_kind::computed);
  const value &named = a.id != 0 ? a : b;
  const value &other = a.id != 0 ? b : a;
  if (named.id != 0 && named.is_range() && other.is_constant() && std::abs(other.lo) < 1 << 20 &&
      std::abs(named.delta) < 1 << 20) {
    v.id = named.id;
    v.delta = named.delta + static_cast<std::int32_t>(other.lo);
  }
  return v;
}

value shift_stack(const value &s, std::int64_t up_lo, std::int64_t up_hi) noexcept {
  value v = s;
  if (s.hi != far && sum(s.lo, -up_hi, v.lo) && sum(s.hi, -up_lo, v.hi) && std::abs(v.lo) < far / 4 &&
      std::abs(v.hi) < far / 4)
    return v;
  return on_stack(s.anchor, s.lo, far);
}

} // namespace

value number(std::int64_t lo, std::int64_t hi) noexcept {
  value v;
  v.kind = value_kind::number;
  v.lo = lo;
  v.hi = hi;
  v.stride = lo == hi ? 0 : 1;
  return v;
}

value on_stack(std::uint16_t anchor, std::int64_t lo, std::int64_t hi) noexcept {
  value v;
  v.kind = value_kind::stack;
  v.anchor = anchor;
  v.lo = lo;
  v.hi = hi;
  return v;
}

value of_kind(value_kind k) noexcept {
  value v;
  v.kind = k;
  return v;
}

value computed_from(const value &a, const value &b) noexcept {
  value v = of_kind(value_kind::computed);
  v.of_code = may_be_code(a) || may_be_code(b);
  return v;
}

value loose_number(std::int64_t hi) noexcept {
  value v = number(0, hi);
  v.loose = true;
  return v;
}

range low_range(const value &v, unsigned bytes) noexcept {
  const std::int64_t most = bytes >= 8 ? far - 1 : (std::int64_t{1} << (8 * bytes)) - 1;
  if (v.is_range() && v.lo >= 0 && v.hi <= most && (v.width == bytes || v.width == 8))
    return {v.lo, v.hi};
  // Of a wider number that fits, the low bytes are the number itself.
  if (v.is_range() && v.lo >= 0 && v.hi <= most && v.width > bytes)
    return {v.lo, v.hi};
  return {0, most};
}

value add(const value &a, const value &b) noexcept {
  if (whole(a) && whole(b))
    return add_numbers(a, b);
  if (whole(a) && b.kind != value_kind::number)
    return add(b, a);
  if (a.kind == value_kind::stack) {
    if (whole(b) && b.is_range())
      return shift_stack(a, b.lo, b.hi);
    if (b.kind != value_kind::stack)
      return on_stack(a.anchor, a.lo, far);
    return of_kind(value_kind::computed);
  }
  if (b.kind == value_kind::stack)
    return add(b, a);
  if (b.is_constant()) {
    value v = a;
    if (b.lo == 0)
      return v;
    v.forget_name();
    if (a.kind == value_kind::first_word && sum(a.lo, b.lo, v.lo))
      return v;
    if (a.kind == value_kind::word && a.width == 4) {
      v.kind = value_kind::target;
      v.base = static_cast<address>(b.lo);
      return v;
    }
  }
  return computed_from(a, b);
}

value subtract(const value &a, const value &b) noexcept {
  if (whole(b) && b.is_range() && b.lo != std::numeric_limits<std::int64_t>::min()) {
    value minus = number(-b.hi, -b.lo);
    minus.stride = b.stride;
    minus.loose = b.loose;
    return add(a, minus);
  }
  if (a.kind == value_kind::stack && b.kind != value_kind::stack)
    return on_stack(a.anchor, a.lo, far);
  return computed_from(a, b);
}

value scale(const value &v, std::int64_t factor) noexcept {
  if (factor == 1)
    return v;
  if (whole(v) && factor > 0) {
    value r = v;
    r.forget_name();
    const std::int64_t stride = std::int64_t{v.stride} * factor;
    if (stride <= word_max && !__builtin_mul_overflow(v.lo, factor, &r.lo) &&
        (v.hi == far || !__builtin_mul_overflow(v.hi, factor, &r.hi))) {
      r.stride = static_cast<std::uint32_t>(stride);
      return r;
    }
  }
  if (factor <= 0 || factor > word_max)
    return of_kind(value_kind::computed);
  value r = number(0, far);
  r.stride = static_cast<std::uint32_t>(factor);
  return r;
}

value mask(const value &v, std::int64_t bits) noexcept {
  if (v.kind == value_kind::stack) {
    // Going down to a multiple of 2^k passes at most 2^k - 1 bytes; by words, as all code does, 8 less 1 fewer. The
    // CFA itself is taken for a multiple of 8, no more: gcc aligns calls of local functions no further than they need.
    if (bits < 0 && std::has_single_bit(static_cast<std::uint64_t>(-bits)) && v.hi != far) {
      const bool words = -bits >= 8 && v.hi % 8 == 0 && v.lo % 8 == 0;
      return on_stack(v.anchor, v.lo, v.hi - bits - (words ? 8 : 1));
    }
    return bits < 0 ? on_stack(v.anchor, v.lo, far) : of_kind(value_kind::computed);
  }
  if (v.is_constant())
    return constant(v.lo & bits);
  if (bits >= 0) {
    const range r = low_range(v, 8);
    value n = number(0, std::min(bits, r.hi));
    n.loose = v.loose || bits < r.hi;
    return n;
  }
  if (whole(v) && v.is_range() && v.lo >= 0) {
    value n = number(std::max<std::int64_t>(0, v.lo + bits + 1), v.hi);
    n.loose = v.loose;
    return n;
  }
  return of_kind(value_kind::computed);
}

value clear_upper(const value &v) noexcept {
  // A word of a table keeps what it is: the sum that follows decides what it means.
  if (v.kind == value_kind::word && v.width == 4 && !v.sign)
    return v;
  const range r = low_range(v, 4);
  value n = number(r.lo, r.hi);
  n.loose = !v.is_range() || v.loose || r.hi == word_max;
  if (v.delta == 0 || (v.lo >= 0 && v.hi <= word_max)) {
    n.id = v.id;
    n.delta = v.delta;
  }
  if (whole(v) && v.is_range() && v.lo >= 0 && v.hi <= word_max)
    n.stride = v.stride;
  return n;
}

value sign_extend(const value &v, unsigned from_bytes) noexcept {
  if (v.kind == value_kind::word && v.width == 4 && from_bytes == 4) {
    value s = v;
    s.sign = true;
    return s;
  }
  const range r = low_range(v, from_bytes);
  if (r.hi < (std::int64_t{1} << (8 * from_bytes - 1))) {
    value n = number(r.lo, r.hi);
    n.loose = v.loose;
    n.id = from_bytes == 4 ? v.id : 0;
    n.delta = from_bytes == 4 ? v.delta : 0;
    if (whole(v))
      n.stride = v.stride;
    return n;
  }
  value u;
  u.id = from_bytes == 4 && v.delta == 0 ? v.id : 0;
  return u;
}

std::uint16_t frame_anchors::make(address at, const value &place, std::int64_t alignment, bool switched) {
  const anchor parent = list[place.anchor];
  value from = from_cfa(place);
  // The range of a size's type is no bound that helps anyone.
  if (from.hi != far && from.hi - from.lo > most_apart)
    from.hi = far;
  for (std::size_t i = 1; i < list.size(); ++i) {
    anchor &a = list[i];
    if (a.made_at != at)
      continue;
    if (from.lo < a.lo || from.hi > a.hi) {
      a.lo = std::min(a.lo, from.lo);
      a.hi = ++a.changes > 8 ? far : std::max(a.hi, from.hi);
      changed = true;
    }
    return static_cast<std::uint16_t>(i);
  }
  const bool inherited = parent.hi == far;
  anchor made;
  made.made_at = at;
  made.lo = from.lo;
  made.hi = from.hi;
  made.alignment = alignment;
  made.switched = switched || (inherited && parent.switched);
  made.cause = inherited ? parent.cause : at;
  // More than any compiler makes: the last stands for all others, somewhere.
  if (list.size() >= most) {
    list.back().hi = far;
    return static_cast<std::uint16_t>(list.size() - 1);
  }
  list.push_back(made);
  changed = true;
  return static_cast<std::uint16_t>(list.size() - 1);
}

value frame_anchors::from_cfa(const value &stack) const noexcept {
  const anchor &a = list[stack.anchor];
  const bool endless = stack.hi == far || a.hi == far;
  return on_stack(0, stack.lo + a.lo, endless ? far : stack.hi + a.hi);
}

} // namespace nth::stack
