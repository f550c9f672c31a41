#include "code/jump_tables.hpp"

#include "code/address_tables.hpp"

#include <algorithm>

namespace nth::stack {
namespace {

void sort_each_once(std::vector<address> &all) {
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
}

bool is_entry(const code_map &map, address a) noexcept {
  const std::uint32_t f = map.table.at(a);
  return (f != no_function && map.table.functions[f].kind != function_kind::fragment) ||
         map.image.plt_at(a) != nullptr;
}

class resolver {
public:
  resolver(const code_map &map, flow &f, row_reader &rows, address at)
      : map_(map), flow_(f), rows_(rows), at_(at) {
    if (const cfa_row *r = rows.row_at(at))
      frame_ = *r;
  }

  jump_targets from_table(const value &v);
  jump_targets into_code(const value &v) const;
  [[nodiscard]] std::vector<address> labels();
  [[nodiscard]] std::vector<address> in_named_tables();

private:
  bool belongs(address to, bool exact);
  [[nodiscard]] bool is_hole(address to) const;
  bool within_instruction(address to);
  bool same_frame(address to);

  const code_map &map_;
  flow &flow_;
  row_reader &rows_;
  address at_;
  cfa_row frame_;
};

// Whether an entry of a table can be one: its unwind table tells the same frame before and after a jump. Where the
// length of the table is known its entries are believed; then they may go to parts of the function that nothing else
// shows to be such.
bool resolver::belongs(address to, bool exact) {
  const bool near = flow_.is_near(to, at_);
  if (exact)
    return near || (map_.image.is_code(to) && same_frame(to));
  return near && (frame_.base == cfa_base::unknown || same_frame(to));
}

// In the middle of an instruction of code that is decoded the same way whichever way one comes.
bool resolver::within_instruction(address to) {
  const straight_sweep &s = flow_.sweep();
  return s.reliable && to - flow_.entry < s.begins.size() && s.begins[to - flow_.entry] == 0;
}

bool resolver::same_frame(address to) {
  const cfa_row *r = rows_.row_at(to);
  return frame_.base != cfa_base::unknown && r != nullptr && r->base == frame_.base &&
         r->offset == frame_.offset;
}

// What a compiler writes for an index that can't be: where the function ends, for the code behind is left out.
bool resolver::is_hole(address to) const {
  if (to == flow_.end)
    return true;
  const std::uint32_t f = map_.table.containing(to - 1);
  return f != no_function && map_.table.functions[f].kind == function_kind::fragment &&
         map_.table.functions[f].end == to;
}

// Where no comparison tells the table's length, what leads nowhere is passed over: cases may follow.
jump_targets resolver::from_table(const value &v) {
  jump_targets t;
  const address_table table(map_, flow_, v);
  for (std::int64_t i = 0; i < table.count(); ++i) {
    const std::optional<address> to = table.at(i);
    if (!to) {
      t.unresolved = table.exact();
      break;
    }
    if (*to != flow_.entry && belongs(*to, table.exact())) {
      // In the middle of an instruction the index can't lead, however wide its range.
      if (!within_instruction(*to))
        t.local.push_back(*to);
    } else if (is_entry(map_, *to) && (v.width == 8 || *to == flow_.entry)) {
      // Behind a table of labels lies another one; but what begins with functions is a table of those.
      t.others = t.others || table.exact() || t.local.empty();
    } else if (table.exact()) {
      t.unresolved = true;
      break;
    } else if (t.local.empty() && !is_hole(*to)) {
      break;
    }
  }
  if (v.or_base && v.base != flow_.entry && flow_.is_near(v.base, at_))
    t.local.push_back(v.base);
  t.unresolved = t.unresolved || (t.local.empty() && !t.others);
  sort_each_once(t.local);
  return t;
}

// Those of the function in whose frame the jump is: data holds them, or its code makes them.
std::vector<address> resolver::labels() {
  std::vector<address> fitting;
  const auto add = [&](address to) {
    if (!within_instruction(to) && (frame_.base == cfa_base::unknown || same_frame(to)))
      fitting.push_back(to);
  };
  for (const address to : map_.labels(flow_.entry + 1, flow_.end))
    add(to);
  const straight_sweep &s = flow_.sweep();
  for (const std::vector<address> *made : {&s.constants, &s.immediates}) {
    const auto first = std::upper_bound(made->begin(), made->end(), flow_.entry);
    const auto last = std::lower_bound(first, made->end(), flow_.end);
    std::for_each(first, last, add);
  }
  sort_each_once(fitting);
  return fitting;
}

// The base of a table may have been in a register longer than is known of (-fipa-ra: across calls). It is one of the
// addresses that the function names.
std::vector<address> resolver::in_named_tables() {
  std::vector<address> all;
  for (const address base : flow_.sweep().constants) {
    if (map_.image.is_code(base) || !map_.image.is_constant(base))
      continue;
    value v = of_kind(value_kind::target);
    v.width = 4;
    v.sign = true;
    v.stride = 4;
    v.lo = static_cast<std::int64_t>(base);
    v.base = base;
    const jump_targets t = from_table(v);
    all.insert(all.end(), t.local.begin(), t.local.end());
  }
  sort_each_once(all);
  return all;
}

// By a computed distance from a place in the code.
jump_targets resolver::into_code(const value &v) const {
  jump_targets t;
  const std::int64_t step = std::max<std::int64_t>(v.stride, 1);
  if ((v.hi - v.lo) / step > 4096)
    t.unresolved = true;
  for (std::int64_t a = v.lo; a <= v.hi && !t.unresolved; a += step) {
    const auto to = static_cast<address>(a);
    // A weak symbol that is not there: no one jumps.
    if (to == 0)
      continue;
    if (flow_.is_near(to, at_) && to != flow_.entry)
      t.local.push_back(to);
    else if (is_entry(map_, to))
      t.others = true;
    else
      t.unresolved = true;
  }
  return t;
}

} // namespace

jump_targets resolve_jump(const code_map &map, flow &f, row_reader &rows, address at, const value &v,
                          bool at_entry_depth) {
  resolver r(map, f, rows, at);
  if (v.kind == value_kind::target)
    return r.from_table(v);
  if (v.kind == value_kind::word && v.width == 8 && v.stride != 0)
    if (jump_targets t = r.from_table(v); !t.unresolved)
      return t;
  if (v.is_range() && v.width == 8) {
    jump_targets t = r.into_code(v);
    // One of several functions, chosen by comparisons.
    const bool chosen = at_entry_depth && is_entry(map, static_cast<address>(v.lo)) &&
                        is_entry(map, static_cast<address>(v.hi));
    if (!t.unresolved || !chosen)
      return t;
    return {.local = {}, .others = true, .unresolved = false};
  }
  if (v.kind == value_kind::number || v.kind == value_kind::stack || v.kind == value_kind::target)
    return {.local = {}, .others = false, .unresolved = true};
  // A pointer that was stored: a label of this function that data or code names, if there are any, or another function.
  jump_targets t;
  t.local = r.labels();
  t.others = at_entry_depth && !(v.kind == value_kind::computed && v.of_code);
  t.unresolved = !t.others && t.local.empty();
  // Made by arithmetic: any distance from a label.
  if (v.kind == value_kind::computed)
    t.unresolved = !t.others || !t.local.empty();
  if (t.others && (v.kind == value_kind::unknown || v.kind == value_kind::computed))
    for (const address to : r.in_named_tables())
      t.local.push_back(to);
  sort_each_once(t.local);
  return t;
}

pointer_source source_of(const value &v) noexcept {
  pointer_source s;
  switch (v.kind) {
  case value_kind::word:
    if (v.width != 8)
      break;
    s.origin = v.stride == 0 ? pointer_origin::slot : pointer_origin::table;
    s.base = static_cast<address>(v.lo);
    s.stride = v.stride;
    s.count = v.stride == 0 ? 0 : static_cast<std::uint32_t>(std::min<std::int64_t>(v.hi, 0xffffffff));
    break;
  case value_kind::first_word:
    // Called itself: what lies at an address of unknown origin.
    if (v.lo == 0)
      s.origin = pointer_origin::member;
    break;
  case value_kind::field:
  case value_kind::member:
    s.origin = v.kind == value_kind::field ? pointer_origin::field : pointer_origin::member;
    s.offset = v.lo;
    break;
  case value_kind::number:
    if (v.is_constant()) {
      s.origin = pointer_origin::own;
      s.base = static_cast<address>(v.lo);
    }
    break;
  default:
    break;
  }
  return s;
}

} // namespace nth::stack
