// Calls and jumps that can be made to lead elsewhere, in the bytes that they have.
#pragma once

#include "code/decode.hpp"

namespace nth::stack {

enum class call_form : std::uint8_t {
  fixed,        // not: `why` says it
  direct,       // E8, E9, 0F 8x with 4 bytes of distance, prefixes before them or not
  call_by_slot, // FF 15: call *slot(%rip)
  jump_by_slot  // FF 25
};

struct call_place {
  call_form form = call_form::fixed;
  // Direct: where it leads now; by slot: the slot. A stub may go to what is in the slot only if that is constant
  // (module::is_constant); else it must go through the slot itself (planned_stub::slot).
  address target = 0;
  std::uint8_t length = 0;
  bool returns = false; // a call: it pushes the return address at + length
  std::string why;
};

// The instruction at `at`, which must be the beginning of one.
call_place call_place_at(const module &m, address at);

// Its bytes when it leads to `to`; empty: too far away.
std::vector<std::uint8_t> redirected(const module &m, const call_place &place, address at, address to);

} // namespace nth::stack
