#include "code/decode.hpp"

#include <Zydis/Zydis.h>

#include <algorithm>
#include <array>

namespace nth::stack {
namespace {

ZydisDecoder make_decoder() noexcept {
  ZydisDecoder d;
  ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  return d;
}

// The general register that `r` is the low end of.
reg general(ZydisRegister r) noexcept {
  static const std::array<reg, ZYDIS_REGISTER_MAX_VALUE + 1> table = [] {
    std::array<reg, ZYDIS_REGISTER_MAX_VALUE + 1> t;
    t.fill(reg::other);
    t[ZYDIS_REGISTER_NONE] = reg::none;
    const auto run = [&](std::size_t first, std::size_t count, std::size_t number) {
      for (std::size_t i = 0; i < count; ++i)
        t[first + i] = static_cast<reg>(number + i);
    };
    run(ZYDIS_REGISTER_RAX, 16, 0);
    run(ZYDIS_REGISTER_EAX, 16, 0);
    run(ZYDIS_REGISTER_AX, 16, 0);
    run(ZYDIS_REGISTER_AL, 4, 0);
    run(ZYDIS_REGISTER_SPL, 12, 4);
    return t;
  }();
  return table[r];
}

// The general register that `r` is all or a part of.
std::uint16_t general_mask(ZydisRegister r) noexcept {
  if (r >= ZYDIS_REGISTER_AH && r <= ZYDIS_REGISTER_BH)
    return static_cast<std::uint16_t>(1U << (r - ZYDIS_REGISTER_AH));
  const reg g = general(r);
  return is_general(g) ? static_cast<std::uint16_t>(1U << static_cast<unsigned>(g)) : std::uint16_t{0};
}

// Of the vector registers that arguments are passed in.
std::uint8_t vector_mask(ZydisRegister r) noexcept {
  for (const auto first : {ZYDIS_REGISTER_XMM0, ZYDIS_REGISTER_YMM0, ZYDIS_REGISTER_ZMM0})
    if (r >= first && r < first + 8)
      return static_cast<std::uint8_t>(1U << static_cast<unsigned>(r - first));
  return 0;
}

// Whether it tells nothing of what its register operands held: xor of one and itself, a push to make room.
bool ignores_sources(const ZydisDecodedInstruction &z, const ZydisDecodedOperand *o) noexcept {
  const std::size_t n = z.operand_count_visible;
  const bool same = n >= 2 && o[n - 1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
                    o[n - 2].type == ZYDIS_OPERAND_TYPE_REGISTER && o[n - 1].reg.value == o[n - 2].reg.value;
  const bool constant = n == 2 && o[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
  switch (z.mnemonic) {
  case ZYDIS_MNEMONIC_NOP:
  case ZYDIS_MNEMONIC_PUSH:
    return true;
  case ZYDIS_MNEMONIC_AND:
    return constant && o[1].imm.value.u == 0;
  case ZYDIS_MNEMONIC_OR:
    return constant && o[1].imm.is_signed != 0 && o[1].imm.value.s == -1;
  case ZYDIS_MNEMONIC_TEST:
  case ZYDIS_MNEMONIC_CMP:
    return false;
  default:
    // Of a register and itself: xor, sub, sbb, pcmpeq clear or fill it, mov and xchg leave it.
    return same;
  }
}

// Registers whose value matters: no operand that is merged into what is written, as of cmov or of sqrtsd, nor one
// from which a vector instruction takes but the upper part: the last operand alone is never such a one.
void set_reads(instruction &i, const ZydisDecodedInstruction &z, const ZydisDecodedOperand *o) noexcept {
  if (z.meta.category == ZYDIS_CATEGORY_NOP || z.meta.category == ZYDIS_CATEGORY_WIDENOP)
    return;
  const bool ignored = ignores_sources(z, o);
  for (std::size_t k = 0; k < z.operand_count; ++k) {
    const ZydisDecodedOperand &each = o[k];
    if (each.type == ZYDIS_OPERAND_TYPE_MEMORY) {
      for (const ZydisRegister r : {each.mem.base, each.mem.index})
        i.reads = static_cast<std::uint16_t>(i.reads | general_mask(r));
    } else if (each.type == ZYDIS_OPERAND_TYPE_REGISTER && !ignored &&
               (each.actions & ZYDIS_OPERAND_ACTION_READ) != 0) {
      const bool merged = k == 0 && z.meta.category == ZYDIS_CATEGORY_CMOV;
      if (!merged)
        i.reads = static_cast<std::uint16_t>(i.reads | general_mask(each.reg.value));
      if (k == 1 && z.operand_count_visible == 2)
        i.vector_reads = vector_mask(each.reg.value);
    }
  }
}

condition condition_of(ZydisMnemonic m) noexcept {
  switch (m) {
  case ZYDIS_MNEMONIC_CMOVNBE:
  case ZYDIS_MNEMONIC_JNBE:
    return condition::above;
  case ZYDIS_MNEMONIC_CMOVNB:
  case ZYDIS_MNEMONIC_JNB:
    return condition::above_equal;
  case ZYDIS_MNEMONIC_CMOVB:
  case ZYDIS_MNEMONIC_JB:
    return condition::below;
  case ZYDIS_MNEMONIC_CMOVBE:
  case ZYDIS_MNEMONIC_JBE:
    return condition::below_equal;
  case ZYDIS_MNEMONIC_CMOVZ:
  case ZYDIS_MNEMONIC_JZ:
    return condition::equal;
  case ZYDIS_MNEMONIC_CMOVNZ:
  case ZYDIS_MNEMONIC_JNZ:
    return condition::not_equal;
  default:
    return condition::other;
  }
}

op data_kind(ZydisMnemonic m) noexcept {
  switch (m) {
  case ZYDIS_MNEMONIC_MOV:
    return op::mov;
  case ZYDIS_MNEMONIC_MOVZX:
    return op::movzx;
  case ZYDIS_MNEMONIC_MOVSX:
  case ZYDIS_MNEMONIC_MOVSXD:
    return op::movsx;
  case ZYDIS_MNEMONIC_LEA:
    return op::lea;
  case ZYDIS_MNEMONIC_ADD:
    return op::add;
  case ZYDIS_MNEMONIC_SUB:
    return op::sub;
  case ZYDIS_MNEMONIC_AND:
    return op::and_;
  case ZYDIS_MNEMONIC_SHL:
    return op::shl;
  case ZYDIS_MNEMONIC_SHR:
    return op::shr;
  case ZYDIS_MNEMONIC_CMP:
    return op::cmp;
  case ZYDIS_MNEMONIC_LEAVE:
    return op::leave;
  case ZYDIS_MNEMONIC_ENTER:
    return op::enter;
  case ZYDIS_MNEMONIC_PUSH:
  case ZYDIS_MNEMONIC_PUSHF:
  case ZYDIS_MNEMONIC_PUSHFQ:
    return op::push;
  case ZYDIS_MNEMONIC_POP:
  case ZYDIS_MNEMONIC_POPF:
  case ZYDIS_MNEMONIC_POPFQ:
    return op::pop;
  case ZYDIS_MNEMONIC_UD0:
  case ZYDIS_MNEMONIC_UD1:
  case ZYDIS_MNEMONIC_UD2:
  case ZYDIS_MNEMONIC_HLT:
    return op::stop;
  case ZYDIS_MNEMONIC_IRET:
  case ZYDIS_MNEMONIC_IRETD:
  case ZYDIS_MNEMONIC_IRETQ:
  case ZYDIS_MNEMONIC_SYSRET:
  case ZYDIS_MNEMONIC_SYSEXIT:
  case ZYDIS_MNEMONIC_UIRET:
    return op::far_away;
  default:
    return op::other;
  }
}

memory_operand memory_of(const ZydisDecodedOperand &o, address next, bool narrow) noexcept {
  memory_operand m;
  m.size = static_cast<std::uint16_t>(o.size / 8);
  m.segment = o.mem.segment == ZYDIS_REGISTER_FS || o.mem.segment == ZYDIS_REGISTER_GS;
  m.displacement = o.mem.disp.has_displacement ? o.mem.disp.value : 0;
  m.scale = o.mem.scale;
  if (o.mem.base == ZYDIS_REGISTER_RIP || o.mem.base == ZYDIS_REGISTER_EIP)
    m.displacement = static_cast<std::int64_t>(next + static_cast<address>(m.displacement));
  else
    m.base = general(o.mem.base);
  m.index = general(o.mem.index);
  // An address of 32 bits wraps, and the index of a gather is a vector: nothing is said of such addresses.
  if (narrow)
    m.base = reg::other;
  return m;
}

// Calls, jumps and returns.
void set_transfer(instruction &i, const ZydisDecodedInstruction &z, const ZydisDecodedOperand &o) noexcept {
  const bool relative = o.type == ZYDIS_OPERAND_TYPE_IMMEDIATE && o.imm.is_relative;
  const auto direct = [&](op kind) {
    i.kind = kind;
    i.immediate = static_cast<std::int64_t>(i.next() + o.imm.value.u);
  };
  switch (z.meta.category) {
  case ZYDIS_CATEGORY_COND_BR:
    direct(op::branch);
    i.when = condition_of(z.mnemonic);
    return;
  case ZYDIS_CATEGORY_CALL:
    if (z.mnemonic != ZYDIS_MNEMONIC_CALL)
      return; // syscall, sysenter
    if (relative)
      direct(op::call);
    else
      i.kind = z.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR ? op::far_away : op::call_indirect;
    return;
  case ZYDIS_CATEGORY_UNCOND_BR:
    if (relative && z.mnemonic == ZYDIS_MNEMONIC_XBEGIN)
      direct(op::branch);
    else if (relative)
      direct(op::jump);
    else if (z.mnemonic == ZYDIS_MNEMONIC_JMP)
      i.kind = z.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR ? op::far_away : op::jump_indirect;
    return;
  case ZYDIS_CATEGORY_RET:
    if (z.mnemonic == ZYDIS_MNEMONIC_RET)
      i.kind = z.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR ? op::far_away : op::ret;
    return;
  default:
    return;
  }
}

// The first two or three operands; what does not fit the simple forms becomes `other`.
void set_operands(instruction &i, const ZydisDecodedInstruction &z, const ZydisDecodedOperand *o) noexcept {
  const std::size_t visible = z.operand_count_visible;
  if (visible == 0)
    return;
  const auto left = o[0].type;
  if (left == ZYDIS_OPERAND_TYPE_REGISTER)
    i.to = general(o[0].reg.value);
  i.to_memory = left == ZYDIS_OPERAND_TYPE_MEMORY;
  i.width = static_cast<std::uint8_t>(std::min<std::size_t>(o[0].size / 8U, 255));
  const std::size_t source = visible > 1 ? 1 : 0;
  if (o[source].type == ZYDIS_OPERAND_TYPE_REGISTER)
    i.from = general(o[source].reg.value);
  i.from_memory = o[source].type == ZYDIS_OPERAND_TYPE_MEMORY;
  i.from_width = static_cast<std::uint8_t>(std::min<std::size_t>(o[source].size / 8U, 255));
  for (std::size_t k = 0; k < visible; ++k)
    if (o[k].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && !o[k].imm.is_relative) {
      i.has_immediate = true;
      i.immediate = o[k].imm.is_signed ? o[k].imm.value.s : static_cast<std::int64_t>(o[k].imm.value.u);
      break;
    }
}

void set_kind(instruction &i, const ZydisDecodedInstruction &z, const ZydisDecodedOperand *o) noexcept {
  const std::size_t visible = z.operand_count_visible;
  i.kind = data_kind(z.mnemonic);
  if (z.mnemonic == ZYDIS_MNEMONIC_CDQE) {
    i.kind = op::movsx;
    i.to = i.from = reg::rax;
    i.width = 8;
    i.from_width = 4;
  } else if ((z.mnemonic == ZYDIS_MNEMONIC_XOR || z.mnemonic == ZYDIS_MNEMONIC_SUB) && visible == 2 &&
             is_general(i.to) && i.to == i.from && i.width >= 4) {
    i.kind = op::zero;
  } else if (z.mnemonic == ZYDIS_MNEMONIC_IMUL && visible == 3) {
    i.kind = op::imul;
  } else if (z.meta.category == ZYDIS_CATEGORY_CMOV) {
    i.kind = op::cmov;
    i.when = condition_of(z.mnemonic);
  } else if (i.kind == op::enter) {
    i.from_width = static_cast<std::uint8_t>(o[1].imm.value.u & 31);
  }
}

} // namespace

instruction decode(std::span<const std::uint8_t> bytes, address a) noexcept {
  static const ZydisDecoder decoder = make_decoder();
  instruction i;
  i.at = a;
  ZydisDecodedInstruction z;
  std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> o;
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes.data(), bytes.size(), &z, o.data()))) {
    i.kind = op::undecoded;
    i.length = 1;
    return i;
  }
  i.length = z.length;
  i.writes_flags = z.cpu_flags != nullptr && (z.cpu_flags->modified | z.cpu_flags->set_0 |
                                              z.cpu_flags->set_1 | z.cpu_flags->undefined) != 0;
  for (std::size_t k = 0; k < z.operand_count; ++k) {
    const ZydisDecodedOperand &each = o[k];
    const bool write = (each.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
    if (each.type == ZYDIS_OPERAND_TYPE_REGISTER) {
      if (write) {
        i.writes = static_cast<std::uint16_t>(i.writes | general_mask(each.reg.value));
        i.vector_writes = static_cast<std::uint8_t>(i.vector_writes | vector_mask(each.reg.value));
      }
    } else if (each.type == ZYDIS_OPERAND_TYPE_MEMORY) {
      if (each.visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN || z.meta.category == ZYDIS_CATEGORY_STRINGOP) {
        i.writes_hidden_memory = i.writes_hidden_memory || write;
      } else {
        i.memory = memory_of(each, i.next(), z.address_width != 64);
        i.writes_memory = write;
      }
    }
  }
  set_reads(i, z, o.data());
  set_operands(i, z, o.data());
  set_kind(i, z, o.data());
  set_transfer(i, z, o[0]);
  // The immediate of a push may be shorter than what it pushes.
  if (i.kind == op::push || i.kind == op::pop)
    i.width = static_cast<std::uint8_t>(z.operand_width / 8);
  return i;
}

} // namespace nth::stack
