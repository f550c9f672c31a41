#include "code/step.hpp"

#include <algorithm>

namespace nth::stack {
namespace {

constexpr std::uint16_t kept_by_calls = 1U << 3 | 1U << 4 | 1U << 5 | 0xf000U; // rbx, rsp, rbp, r12 to r15

value register_value(const state &s, reg r) noexcept { return is_general(r) ? s.at(r) : value{}; }

std::int64_t unsigned_immediate(const instruction &i) noexcept {
  return i.width == 4 ? static_cast<std::int64_t>(static_cast<std::uint32_t>(i.immediate)) : i.immediate;
}

value operand(const state &s, const instruction &i) noexcept {
  if (i.has_immediate)
    return constant(unsigned_immediate(i));
  return i.from_memory ? load(s, i.memory, i.width) : register_value(s, i.from);
}

void store(state &s, step_context &c, const memory_operand &m, unsigned bytes, const value &v) noexcept {
  const value where = address_of(s, m);
  if (where.is_exact_stack()) {
    s.store(where.anchor, where.lo, static_cast<std::uint8_t>(std::min(bytes, 255U)), v);
    if (where.anchor == 0 && where.lo > 0 && where.lo < static_cast<std::int64_t>(bytes) + 8)
      c.writes_return_address = true;
  } else if (where.is_constant()) {
    s.forget_words();
  } else {
    s.forget_numbers();
  }
}

// rsp becomes v. Where its distance from the CFA stops being one number, a new anchor begins.
void set_rsp(state &s, step_context &c, const instruction &i, value v, std::int64_t alignment) {
  const value old = s.rsp();
  const bool lost = v.kind != value_kind::stack;
  if (lost)
    v = on_stack(0, 0, far);
  if (!lost && (v.is_exact_stack() || (!old.is_exact_stack() && v.hi != far))) {
    s.set(reg::rsp, v);
    return;
  }
  const std::uint16_t anchor = c.anchors.make(i.at, v, alignment, lost);
  s.forget_anchor(anchor, c.anchors);
  s.set(reg::rsp, on_stack(anchor, 0, 0));
}

void set_register(state &s, step_context &c, const instruction &i, reg r, const value &v) {
  if (r == reg::rsp)
    set_rsp(s, c, i, v, 1);
  else if (is_general(r))
    s.set(r, v);
}

void align_rsp(state &s, step_context &c, const instruction &i, const value &bits) {
  const value old = s.rsp();
  const std::int64_t alignment = bits.is_constant() ? -bits.lo : 0;
  if (alignment <= 0 || (alignment & (alignment - 1)) != 0) {
    set_rsp(s, c, i, on_stack(old.anchor, old.lo, far), 1);
    return;
  }
  const bool aligned = old.is_exact_stack() && c.anchors.list[old.anchor].alignment >= alignment &&
                       (old.lo & (alignment - 1)) == 0;
  if (!aligned)
    set_rsp(s, c, i, mask(old, -alignment), alignment);
}

void push(state &s, step_context &c, const value &v, std::int64_t bytes) noexcept {
  const value top = subtract(s.rsp(), constant(bytes));
  s.set(reg::rsp, top);
  s.forget_words();
  if (top.is_exact_stack()) {
    s.store(top.anchor, top.lo, static_cast<std::uint8_t>(bytes), v);
    if (top.anchor == 0 && top.lo > 0 && top.lo < bytes + 8)
      c.writes_return_address = true;
  }
}

value pop(state &s, std::int64_t bytes) noexcept {
  const value top = s.rsp();
  value v;
  if (top.is_exact_stack())
    if (const stack_slot *slot = s.slot(top.anchor, top.lo); slot != nullptr && slot->size == bytes)
      v = slot->held;
  s.set(reg::rsp, add(top, constant(bytes)));
  return v;
}

// Gives the value in register `r` a name, so that its copies are known as such.
void name(state &s, reg r, address at) noexcept {
  value &v = s.registers[static_cast<std::size_t>(r)];
  if (v.id != 0 || v.kind == value_kind::stack || v.is_constant())
    return;
  const std::uint32_t id = static_cast<std::uint32_t>(at) | 1U << 31;
  s.forget_id(id);
  v.id = id;
}

void move(state &s, step_context &c, const instruction &i) {
  if (i.to_memory) {
    store(s, c, i.memory, i.memory.size, operand(s, i));
    return;
  }
  if (i.width < 4) {
    // `mov $0,%spl` is how compilers write `and $-256,%rsp`; %sp in the same way.
    if (i.to == reg::rsp && i.has_immediate && i.immediate == 0)
      align_rsp(s, c, i, constant(-(std::int64_t{1} << (8 * i.width))));
    else
      set_register(s, c, i, i.to, {});
    return;
  }
  if (is_general(i.from) && !i.has_immediate && i.to != reg::rsp)
    name(s, i.from, i.at);
  const value v = operand(s, i);
  set_register(s, c, i, i.to, i.width == 4 ? clear_upper(v) : v);
}

// One of two values; of the one that is moved the condition tells more.
void move_if(state &s, step_context &c, const instruction &i) {
  value moved = operand(s, i);
  value kept = register_value(s, i.to);
  const comparison &known = s.compared;
  if (known.kind == comparison::what::with_constant && known.subject.id != 0 &&
      (moved.id == known.subject.id || kept.id == known.subject.id)) {
    state then = s;
    refine(then, i, true);
    moved = operand(then, i);
    then = s;
    refine(then, i, false);
    kept = register_value(then, i.to);
  }
  const value v = either(moved, kept, c.anchors);
  set_register(s, c, i, i.to, i.width == 8 ? v : i.width == 4 ? clear_upper(v) : value{});
}

void extend(state &s, step_context &c, const instruction &i) {
  const bool sign = i.kind == op::movsx;
  value v;
  if (i.from_memory) {
    v = load(s, i.memory, i.from_width);
  } else {
    if (is_general(i.from) && sign && i.from_width == 4 && i.from != i.to)
      name(s, i.from, i.at);
    v = register_value(s, i.from);
  }
  if (sign) {
    v = sign_extend(v, i.from_width);
    if (i.width == 4)
      v = clear_upper(v);
  } else {
    const range r = low_range(v, i.from_width);
    const bool kept = v.is_range() && r.lo == v.lo && r.hi == v.hi;
    value n = number(r.lo, r.hi);
    n.loose = !kept || v.loose;
    v = n;
  }
  set_register(s, c, i, i.to, i.width < 4 ? value{} : v);
}

// Sums in 4 bytes keep only ranges, and those only where nothing wraps.
value narrow(const value &a, const value &b, bool minus) noexcept {
  const range x = low_range(a, 4);
  const range y = low_range(b, 4);
  const std::int64_t lo = minus ? x.lo - y.hi : x.lo + y.lo;
  const std::int64_t hi = minus ? x.hi - y.lo : x.hi + y.hi;
  if (lo < 0 || hi > 0xffffffff)
    return loose_number(0xffffffff);
  value v = number(lo, hi);
  v.loose = a.loose || b.loose;
  return v;
}

value shifted(const value &v, const instruction &i) noexcept {
  const std::int64_t by = i.immediate & (i.width == 8 ? 63 : 31);
  if (!i.has_immediate)
    return of_kind(value_kind::computed);
  if (i.kind == op::shl) {
    if (i.width == 8)
      return by < 32 ? scale(v, std::int64_t{1} << by) : of_kind(value_kind::computed);
    const range r = low_range(v, 4);
    return r.hi << by > 0xffffffff ? loose_number(0xffffffff) : scale(clear_upper(v), std::int64_t{1} << by);
  }
  if (i.width == 4 || (v.is_range() && v.width == 8 && v.lo >= 0)) {
    const range r = low_range(v, i.width);
    value n = number(r.lo >> by, r.hi >> by);
    n.loose = v.loose || !v.is_range();
    return n;
  }
  return by >= 2 ? loose_number((std::int64_t{1} << (64 - by)) - 1) : of_kind(value_kind::computed);
}

void compute(state &s, step_context &c, const instruction &i) {
  if (i.to_memory) {
    store(s, c, i.memory, i.memory.size, {});
    return;
  }
  if (!is_general(i.to))
    return;
  const value old = s.at(i.to);
  const value by = operand(s, i);
  if (i.width < 4) {
    set_register(s, c, i, i.to, of_kind(value_kind::computed));
    return;
  }
  value v;
  switch (i.kind) {
  case op::add:
    v = i.width == 8 ? add(old, by) : narrow(old, by, false);
    break;
  case op::sub:
    v = i.width == 8 ? subtract(old, by) : narrow(old, by, true);
    break;
  case op::and_:
    if (i.to == reg::rsp && i.width == 8) {
      align_rsp(s, c, i, by);
      return;
    }
    if (!by.is_constant())
      v = i.width == 4 ? loose_number(0xffffffff) : computed_from(old, by);
    else
      v = i.width == 8 ? mask(old, by.lo) : mask(clear_upper(old), by.lo);
    break;
  case op::imul:
    v = i.width == 8 && !i.from_memory && i.immediate > 0 ? scale(register_value(s, i.from), i.immediate)
                                                          : of_kind(value_kind::computed);
    break;
  default:
    v = shifted(old, i);
    break;
  }
  set_register(s, c, i, i.to, v);
}

void compare(state &s, const instruction &i) noexcept {
  comparison now;
  now.width = i.width;
  const value right = operand(s, i);
  const std::int64_t most = i.width >= 8 ? far - 1 : (std::int64_t{1} << (8 * i.width)) - 1;
  now.number = i.width >= 8 ? right.lo : right.lo & most;
  const bool fixed = right.is_constant() && now.number >= 0;
  if (i.to_memory) {
    const value where = address_of(s, i.memory);
    if (fixed && where.is_exact_stack() && i.width >= 4) {
      now.kind = comparison::what::slot_with_constant;
      now.anchor = where.anchor;
      now.depth = where.lo;
    } else if (fixed && is_general(i.memory.base) && i.memory.index == reg::none && !i.memory.segment) {
      now.kind = comparison::what::word_with_constant;
      now.left = i.memory.base;
      now.depth = i.memory.displacement;
    }
  } else if (is_general(i.to)) {
    now.left = i.to;
    if (fixed) {
      now.kind = comparison::what::with_constant;
      now.subject = s.at(i.to);
    } else if (is_general(i.from) && !i.from_memory && !i.has_immediate) {
      now.kind = comparison::what::registers;
      now.right = i.from;
    }
  }
  s.compared = now.kind == comparison::what::none ? comparison{} : now;
}

void other(state &s, step_context &c, const instruction &i) {
  // What is mixed with a word of the thread is a pointer that was hidden so.
  const value v =
      i.memory.segment ? value{} : computed_from(register_value(s, i.to), register_value(s, i.from));
  for (unsigned r = 0; r < 16; ++r)
    if ((i.writes >> r & 1U) != 0)
      set_register(s, c, i, static_cast<reg>(r), v);
  if (i.writes_memory)
    store(s, c, i.memory, i.memory.size, {});
  if (i.writes_hidden_memory)
    s.forget_numbers();
}

void frame_instruction(state &s, step_context &c, const instruction &i) {
  if (i.kind == op::leave) {
    set_rsp(s, c, i, s.at(reg::rbp), 1);
    s.set(reg::rbp, pop(s, 8));
    return;
  }
  push(s, c, s.at(reg::rbp), 8);
  s.set(reg::rbp, s.rsp());
  // from_width: the nesting level; each pushes a pointer.
  s.set(reg::rsp, subtract(s.rsp(), constant(i.immediate + std::int64_t{8} * i.from_width)));
}

void move_to_stack(state &s, step_context &c, const instruction &i) {
  if (i.kind == op::push) {
    const value v = i.from_memory ? load(s, i.memory, i.width) : operand(s, i);
    push(s, c, v, i.width);
    return;
  }
  const value v = pop(s, i.width);
  if (!i.to_memory && !is_general(i.to))
    s.compared = {}; // popf
  if (i.to_memory)
    store(s, c, i.memory, i.memory.size, v);
  else
    set_register(s, c, i, i.to, i.width == 8 ? v : value{});
}

} // namespace

void after_call(state &s) noexcept {
  for (unsigned r = 0; r < 16; ++r)
    if ((kept_by_calls >> r & 1U) == 0)
      s.registers[r] = {};
  s.compared = {};
  s.forget_numbers();
  s.forget_below(s.rsp());
}

void step(state &s, const instruction &i, step_context &c) {
  switch (i.kind) {
  case op::mov:
    move(s, c, i);
    return;
  case op::movzx:
  case op::movsx:
    extend(s, c, i);
    return;
  case op::lea: {
    if (is_general(i.memory.base) && i.memory.index == reg::none && i.memory.base != i.to)
      name(s, i.memory.base, i.at);
    const value v = address_of(s, i.memory);
    set_register(s, c, i, i.to, i.width == 8 ? v : i.width == 4 ? clear_upper(v) : value{});
    return;
  }
  case op::add:
  case op::sub:
  case op::and_:
  case op::shl:
  case op::shr:
  case op::imul:
    s.compared = {};
    compute(s, c, i);
    return;
  case op::zero:
    s.compared = {};
    set_register(s, c, i, i.to, constant(0));
    return;
  case op::cmov:
    move_if(s, c, i);
    return;
  case op::cmp:
    compare(s, i);
    return;
  case op::push:
  case op::pop:
    move_to_stack(s, c, i);
    return;
  case op::leave:
  case op::enter:
    frame_instruction(s, c, i);
    return;
  case op::call:
    // `call next` pushes the address of what follows, to be popped.
    if (i.target() == i.next())
      push(s, c, constant(i.immediate), 8);
    else
      after_call(s);
    return;
  case op::call_indirect:
    after_call(s);
    return;
  case op::ret:
  case op::far_away:
    return; // nothing follows in this frame
  default:
    if (i.writes_flags)
      s.compared = {};
    other(s, c, i);
    return;
  }
}

} // namespace nth::stack
