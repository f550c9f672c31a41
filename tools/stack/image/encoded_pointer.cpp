#include "image/cursor.hpp"
#include "image/eh_frame.hpp"

#include <dwarf.h>

namespace nth::stack {

namespace {

template <typename T>
address signed_value(cursor &c) {
  return static_cast<address>(std::int64_t{c.take<T>()});
}

constexpr unsigned format_bits = 0x0f;
constexpr unsigned relation_bits = 0x70;

} // namespace

address take_encoded(const module *m, cursor &c, std::uint8_t encoding, address at, address function_begin) {
  if (encoding == DW_EH_PE_omit)
    return 0;
  address value = 0;
  switch (encoding & format_bits) {
  case DW_EH_PE_absptr:
    // The word in the file may be without what its relocation adds.
    value = c.take<std::uint64_t>();
    if ((encoding & relation_bits) == 0 && m != nullptr && m->position_independent)
      value = m->pointer_at(at).value_or(0);
    break;
  case DW_EH_PE_uleb128:
    value = c.unsigned_leb128();
    break;
  case DW_EH_PE_udata2:
    value = c.take<std::uint16_t>();
    break;
  case DW_EH_PE_udata4:
    value = c.take<std::uint32_t>();
    break;
  case DW_EH_PE_udata8:
    value = c.take<std::uint64_t>();
    break;
  case DW_EH_PE_sleb128:
    value = static_cast<address>(c.signed_leb128());
    break;
  case DW_EH_PE_sdata2:
    value = signed_value<std::int16_t>(c);
    break;
  case DW_EH_PE_sdata4:
    value = signed_value<std::int32_t>(c);
    break;
  case DW_EH_PE_sdata8:
    value = signed_value<std::int64_t>(c);
    break;
  default:
    return 0;
  }
  if (value == 0 || c.failed())
    return 0;
  switch (encoding & relation_bits) {
  case DW_EH_PE_absptr:
    break;
  case DW_EH_PE_pcrel:
    value += at;
    break;
  case DW_EH_PE_funcrel:
    value += function_begin;
    break;
  default:
    return 0;
  }
  if ((encoding & DW_EH_PE_indirect) != 0)
    return m != nullptr ? m->pointer_at(value).value_or(0) : 0;
  return value;
}

} // namespace nth::stack
