#include "patch/call_sites.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include <fmt/format.h>

namespace nth::stack {

namespace {

constexpr std::uint8_t address_size =
    0x67; // a prefix without effect before a direct call: linkers fill up with it
constexpr std::uint8_t no_operation = 0x90;

// May stand before a call or jump without changing what it does here: notrack, bnd, branch hints, REX.W.
bool harmless(std::uint8_t prefix) noexcept {
  return prefix == address_size || prefix == 0x3e || prefix == 0x2e || prefix == 0xf2 || prefix == 0x48;
}

bool all_harmless(std::span<const std::uint8_t> prefixes) noexcept {
  return std::ranges::all_of(prefixes, harmless);
}

void append_distance(std::vector<std::uint8_t> &to, std::int64_t distance) {
  const auto low = static_cast<std::uint32_t>(distance);
  for (unsigned k = 0; k < 4; ++k)
    to.push_back(static_cast<std::uint8_t>(low >> (8 * k)));
}

} // namespace

call_place call_place_at(const module &m, address at) {
  call_place place;
  const section *s = m.section_of(at);
  if (s == nullptr || !s->executable) {
    place.why = "there is no code";
    return place;
  }
  if (s->name == "nth_code" || s->name == ".nth_stubs") {
    place.why = "it is a part of libnth, which is never changed";
    return place;
  }
  const auto bytes = m.bytes_at(at);
  const instruction i = decode(bytes, at);
  place.length = i.length;
  place.returns = i.kind == op::call || i.kind == op::call_indirect;
  const auto code = bytes.first(std::min<std::size_t>(i.length, bytes.size()));
  const bool direct = i.kind == op::call || i.kind == op::jump || i.kind == op::branch;
  const bool by_slot = (i.kind == op::call_indirect || i.kind == op::jump_indirect) && i.memory.size == 8 &&
                       i.memory.base == reg::none && i.memory.index == reg::none && !i.memory.segment;
  // Behind prefixes: one byte and the distance (a conditional jump: 0F and one), or FF, the form, and the distance.
  const std::size_t opcode = i.kind == op::call || i.kind == op::jump ? 5 : 6;
  if (!direct && !by_slot)
    place.why = i.kind == op::call_indirect || i.kind == op::jump_indirect
                    ? "it calls through a register or a computed place"
                    : "it is no call or jump";
  else if (code.size() < opcode)
    place.why = "it is a short jump, without room for the distance";
  else if (!all_harmless(code.first(code.size() - opcode)))
    place.why = "it has a prefix that is not known";
  else if (direct)
    place.form = call_form::direct;
  else if ((code[code.size() - 5] & 0xc7U) != 0x05) // mod 0, rip + distance
    place.why = "its slot is not addressed from the instruction on";
  else
    place.form = place.returns ? call_form::call_by_slot : call_form::jump_by_slot;
  if (place.form != call_form::fixed)
    place.target = direct ? i.target() : static_cast<address>(i.memory.displacement);
  return place;
}

std::vector<std::uint8_t> redirected(const module &m, const call_place &place, address at, address to) {
  std::vector<std::uint8_t> code;
  const auto old = m.bytes_at(at);
  address next = at + place.length;
  if (place.form == call_form::direct) {
    code.assign(old.begin(), old.begin() + place.length - 4);
  } else if (place.form == call_form::call_by_slot) {
    code.assign(place.length - 5U, address_size);
    code.push_back(0xe8);
  } else if (place.form == call_form::jump_by_slot) {
    code.push_back(0xe9);
    next = at + 5;
  } else {
    return {};
  }
  const auto distance = static_cast<std::int64_t>(to - next);
  if (distance != static_cast<std::int32_t>(distance))
    return {};
  append_distance(code, distance);
  code.resize(place.length, no_operation);
  return code;
}

} // namespace nth::stack
