// What the code of one function tells: how deep its frame gets, whom it calls at which depth, what addresses it takes.
#pragma once

#include "image/functions.hpp"

namespace nth::stack {

enum class call_kind : std::uint8_t { direct, tail, indirect, indirect_tail };

// Where the pointer of an indirect call comes from, as far as the code around it proves it.
enum class pointer_origin : std::uint8_t {
  unknown,
  slot,   // loaded from the fixed place `base` (a GOT slot, a global variable)
  table,  // loaded from base + stride·i, 0 <= i < count (count 0: not bounded by a comparison)
  field,  // loaded from [p + offset], p itself loaded from the first word at an address (a virtual call)
  member, // loaded from [p + offset], p of unknown origin (a struct of pointers)
  own     // an address of code that the function itself computes: base
};

struct pointer_source {
  pointer_origin origin = pointer_origin::unknown;
  address base = 0;
  std::int64_t offset = 0;
  std::uint32_t stride = 0;
  std::uint32_t count = 0;
};

// Registers that arguments are passed in (psABI 3.2.3): bits 0 to 5 rdi, rsi, rdx, rcx, r8, r9, bits 6 to 13 xmm0 to
// xmm7.
using argument_mask = std::uint16_t;
inline constexpr unsigned integer_arguments = 6;
inline constexpr unsigned vector_arguments = 8;
inline constexpr argument_mask all_arguments = (1U << (integer_arguments + vector_arguments)) - 1;

// Registers that calls keep: bits 0 to 5 rbx, rbp, r12, r13, r14, r15.
using kept_registers = std::uint8_t;
inline constexpr kept_registers all_kept = 0x3f;

// Depths are bytes below the CFA of the function, the caller's rsp before the call: 8 at its first instruction.
struct call_site {
  address at = 0;
  address next = 0; // where it returns to; 0 for a tail call
  call_kind kind = call_kind::direct;
  bool returns = true; // false: the callee never does
  bool cold = false;   // in a fragment, or every way on from here ends in a call that does not return
  kept_registers live = all_kept; // that the function reads afterwards
  float frequency = 1;            // estimated: how often it is made when the function runs once
  // Direct, indirect: CFA - rsp before the push of the return address; tail: less 8. The largest. Where that has no
  // bound: without what has none (an allocation counts as 0 bytes).
  std::int64_t depth = 0;
  address target = 0; // direct, tail: in this module, may be a PLT stub. 0: a weak symbol that is not there
  pointer_source source; // indirect
  // Indirect: what may hold an argument of this call, because it was written since the last call or is as this
  // function got it. Nothing else does.
  argument_mask written = all_arguments;
  argument_mask as_entered = all_arguments;
};

enum class frame_bound : std::uint8_t {
  exact, // the same depth whenever an instruction runs, in agreement with the unwind tables where they tell it
  bounded,  // at most `frame`
  unbounded // no bound: `reason`, at `reason_at`
};

enum class no_bound : std::uint8_t {
  none,
  dynamic_allocation, // alloca, or an array of variable length
  grows_in_loop,      // each turn pushes more
  stack_switch,       // rsp gets a value from elsewhere
  undecodable,        // bytes that are no instruction
  unknown_jump,       // jmp through a register or memory whose targets are not known
  disagrees,          // with the unwind tables
  too_large,          // the analysis gave up at its limit of work
  pops_arguments      // it returns with less on its caller's stack, and not all of its callers can be told
};

// Of a fragment these are what it does when entered in the frame that its unwind table tells; functions that jump to
// it have all of that among their own facts.
// Code that runs, calls among it, may not have been seen: a bound of the frame alone does not bound the need.
constexpr bool hides_code(no_bound reason) noexcept {
  return reason == no_bound::undecodable || reason == no_bound::unknown_jump || reason == no_bound::too_large;
}

inline constexpr std::int64_t unknown_arguments = -1;

struct function_facts {
  std::int64_t frame = 8;   // most bytes below the CFA that rsp reaches; the return address counts
  std::int64_t touched = 8; // frame, or more: bytes below rsp that it uses (red zone)
  frame_bound bound = frame_bound::exact;
  no_bound reason = no_bound::none;
  address reason_at = 0;
  bool returns = true;
  bool calls_setjmp = false;
  kept_registers untouched = 0;      // it never writes them: they are its caller's all the time
  bool reads_return_address = false; // as data: it finds its caller by that
  std::int64_t pops = 0; // bytes of arguments that it takes off the stack as it returns (ret $n); the most
  // Bytes above its return address that it may touch itself: what its caller has pushed. unknown_arguments: it has
  // pointers to them.
  std::int64_t arguments = 0;
  std::vector<call_site> calls;
  std::vector<address> taken; // addresses of code that it computes or loads as constants (not call targets)
  std::vector<address> fragments; // entries of fragments that its flow reaches
  argument_mask consumed = 0;     // read as they came, for sure; never more than the function has parameters
  std::uint32_t instructions = 0;
  std::uint32_t cfa_compared = 0; // instructions at which flow and unwind table both tell the depth
  std::uint32_t cfa_differing = 0;
};

} // namespace nth::stack
