#include "code/taken.hpp"

#include "code/address_tables.hpp"

#include <algorithm>

namespace nth::stack {
void taken_addresses::take(address a) {
  if (!map_.image.is_code(a) || map_.image.plt_at(a) != nullptr)
    return;
  const bool inside = a > flow_.entry && a < flow_.end;
  if (inside || flow_.is_near(a, flow_.entry))
    return;
  code_.push_back(a);
  // Where nothing tells how long a function is, it seems to reach to the next one that is known.
  const std::uint32_t around = map_.table.containing(a);
  if (around == no_function || (map_.table.at(a) == no_function && !map_.table.functions[around].has_size))
    found.push_back(a);
}

// What a table holds is taken by whoever reads a pointer from it, if it is not jumped to.
void taken_addresses::take_table(const value &v) {
  for (const address a : functions_in_table(map_, flow_, v))
    take(a);
}

void taken_addresses::take_value(const instruction &i, const value &v) {
  if (v.is_constant()) {
    const auto a = static_cast<address>(v.lo);
    // A sum may be any number: of those only what is the beginning of a function, or must be an address.
    if (i.kind == op::lea || map_.table.at(a) != no_function)
      take(a);
    return;
  }
  if (v.kind == value_kind::target) {
    take_table(v);
    return;
  }
  if (v.kind != value_kind::word || v.width != 8 || !i.from_memory)
    return;
  if (v.stride != 0)
    take_table(v);
  else if (const auto p = map_.pointer_in_data(static_cast<address>(v.lo)))
    take(*p);
}

// In a program with fixed addresses an address may be any immediate; else what movabs loads may be a distance from the
// table of global offsets (-mcmodel=large), wherever the sum is made.
void taken_addresses::take_immediate(const instruction &i) {
  if (!i.has_immediate)
    return;
  const auto n = static_cast<address>(i.width == 4 ? i.immediate & 0xffffffff : i.immediate);
  if (!map_.image.position_independent && map_.table.at(n) != no_function)
    take(n);
  if (i.kind == op::mov && i.length == 10 && map_.global_offsets != 0)
    if (const address a = map_.global_offsets + n; map_.table.at(a) != no_function)
      take(a);
}

void taken_addresses::from_instruction(const instruction &i, const state &after) {
  const bool whole = i.width == 8 || (i.width == 4 && !map_.image.position_independent);
  const bool makes =
      i.kind == op::lea || i.kind == op::mov || i.kind == op::add || i.kind == op::sub || i.kind == op::cmov;
  if (makes && whole && is_general(i.to) && !i.to_memory)
    take_value(i, after.at(i.to));
  take_immediate(i);
}

void taken_addresses::from_relocations(address begin, address end) {
  for (const relocation &r : map_.image.relocations_in(begin, end)) {
    if (r.kind != relocation_kind::absolute && r.kind != relocation_kind::relative)
      continue;
    if (const auto p = map_.pointer_at(r.place); p && map_.table.at(*p) != no_function)
      take(*p);
  }
}

void taken_addresses::from_sweep() {
  const straight_sweep &s = flow_.sweep();
  for (const address a : s.constants)
    take(a);
  for (const address a : s.immediates)
    if (map_.table.at(a) != no_function)
      take(a);
}

std::vector<address> taken_addresses::code() {
  std::sort(code_.begin(), code_.end());
  code_.erase(std::unique(code_.begin(), code_.end()), code_.end());
  return std::move(code_);
}

} // namespace nth::stack
