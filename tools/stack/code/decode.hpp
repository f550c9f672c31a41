// One instruction, reduced to what depth, flow and pointers need. Decoded by Zydis.
#pragma once

#include "image/module.hpp"

namespace nth::stack {

// General registers in the order of their encoding.
enum class reg : std::uint8_t {
  rax,
  rcx,
  rdx,
  rbx,
  rsp,
  rbp,
  rsi,
  rdi,
  r8,
  r9,
  r10,
  r11,
  r12,
  r13,
  r14,
  r15,
  none,
  other // not a general register, or a part of one that is not its low end (ah)
};

enum class op : std::uint8_t {
  other, // writes the registers of `writes`, nothing is known of the values
  mov,   // also of 4 bytes, which clears the upper ones
  movzx,
  movsx,
  lea,
  add,
  sub,
  and_,
  shl,
  shr,
  imul, // to = from * immediate
  zero, // xor or sub of a register and itself
  cmov,
  cmp,
  push,
  pop,
  leave,
  enter,
  call,
  call_indirect,
  jump,
  jump_indirect,
  branch,
  ret,
  stop,      // ud2, hlt: execution ends
  far_away,  // iret and the like: goes where no one knows
  undecoded, // bytes that are no instruction
};

enum class condition : std::uint8_t { other, above, above_equal, below, below_equal, equal, not_equal };

// The address is base + index * scale + displacement; relative to rip: displacement alone.
struct memory_operand {
  reg base = reg::none;
  reg index = reg::none;
  std::uint8_t scale = 0;
  bool segment = false;   // fs or gs: no address in the module or on the stack
  std::uint16_t size = 0; // bytes; 0: no memory operand
  std::int64_t displacement = 0;
};

struct instruction {
  address at = 0;
  std::int64_t immediate = 0; // or the target of a direct call, jump or branch
  memory_operand memory;
  op kind = op::other;
  condition when = condition::other;
  std::uint8_t length = 0;
  std::uint8_t width = 0;      // bytes of the operation
  std::uint8_t from_width = 0; // movzx, movsx: of the source
  reg to = reg::none;          // register operands; none where it is memory or an immediate
  reg from = reg::none;
  bool to_memory = false; // what it writes, or for cmp its left side, is `memory`
  bool from_memory = false;
  bool has_immediate = false;
  bool writes_flags = false;
  bool writes_memory = false;        // `memory`
  bool writes_hidden_memory = false; // string instructions
  std::uint16_t writes = 0;          // bit n: general register n
  std::uint16_t reads =
      0; // the same; without what is only saved, left as it is, or of no influence (xor a, a)
  std::uint8_t vector_writes = 0; // bit n: xmm n, n < 8
  std::uint8_t vector_reads = 0;  // of sources alone: many instructions merge into what they write

  [[nodiscard]] address next() const noexcept { return at + length; }
  [[nodiscard]] address target() const noexcept { return static_cast<address>(immediate); }
};

inline constexpr bool is_general(reg r) noexcept { return r < reg::none; }

// The instruction at `a`, of which `bytes` begin; kind undecoded, of length 1, where there is none.
instruction decode(std::span<const std::uint8_t> bytes, address a) noexcept;

} // namespace nth::stack
