// Evaluates the instructions of unwind tables as far as they tell the CFA.
#include "image/eh_frame.hpp"

#include "image/cursor.hpp"

#include <algorithm>

#include <dwarf.h>

namespace nth::stack {

namespace {

constexpr std::uint64_t dwarf_rsp = 7;
constexpr std::uint64_t dwarf_rbp = 6;

// The instructions of an entry, run as far as they tell the CFA.
class cfa_program {
public:
  explicit cfa_program(const cie &c) : common_(c) {}

  cfa_rule rule;
  std::vector<cfa_row> rows;

  // From `begin`; rows are made up to `end` at most. False: makes no sense.
  bool run(const cfa_instructions &instructions, address begin, address end) {
    cursor c(instructions.bytes);
    row_begin_ = begin;
    end_ = end;
    while (!c.at_end() && row_begin_ < end_)
      if (!step(c, instructions.at))
        return false;
    close_row(end_);
    return !c.failed();
  }

private:
  bool step(cursor &c, address instructions_at) {
    const auto code = c.take<std::uint8_t>();
    switch (code & 0xc0u) {
    case DW_CFA_advance_loc:
      return advance(code & 0x3fu);
    case DW_CFA_offset:
      c.unsigned_leb128();
      return true;
    case DW_CFA_restore:
      return true;
    default:
      break;
    }
    switch (code) {
    case DW_CFA_set_loc: {
      const address at = instructions_at + c.at();
      const address to = take_encoded(nullptr, c, common_.pointer_encoding, at, 0);
      return to >= row_begin_ && advance_to(to);
    }
    case DW_CFA_advance_loc1:
      return advance(c.take<std::uint8_t>());
    case DW_CFA_advance_loc2:
      return advance(c.take<std::uint16_t>());
    case DW_CFA_advance_loc4:
      return advance(c.take<std::uint32_t>());
    case DW_CFA_remember_state:
      remembered_.push_back(rule);
      return true;
    case DW_CFA_restore_state:
      if (remembered_.empty())
        return false;
      rule = remembered_.back();
      remembered_.pop_back();
      return true;
    default:
      return define(c, code) || skip(c, code);
    }
  }

  bool define(cursor &c, std::uint8_t code) {
    switch (code) {
    case DW_CFA_def_cfa:
      rule = {c.unsigned_leb128(), 0, false, true};
      rule.offset = static_cast<std::int64_t>(c.unsigned_leb128());
      return true;
    case DW_CFA_def_cfa_sf:
      rule = {c.unsigned_leb128(), 0, false, true};
      rule.offset = scaled(c.signed_leb128());
      return true;
    case DW_CFA_def_cfa_register:
      rule.known = rule.known && !rule.expression;
      rule.reg = c.unsigned_leb128();
      return true;
    case DW_CFA_def_cfa_offset:
      rule.offset = static_cast<std::int64_t>(c.unsigned_leb128());
      return true;
    case DW_CFA_def_cfa_offset_sf:
      rule.offset = scaled(c.signed_leb128());
      return true;
    case DW_CFA_def_cfa_expression:
      c.skip(c.unsigned_leb128());
      rule = {0, 0, true, true};
      return true;
    default:
      return false;
    }
  }

  // Where registers are kept is nothing to the CFA.
  static bool skip(cursor &c, std::uint8_t code) {
    switch (code) {
    case DW_CFA_nop:
      return true;
    case DW_CFA_restore_extended:
    case DW_CFA_undefined:
    case DW_CFA_same_value:
    case DW_CFA_GNU_args_size:
      c.unsigned_leb128();
      return true;
    case DW_CFA_offset_extended:
    case DW_CFA_register:
    case DW_CFA_val_offset:
    case DW_CFA_offset_extended_sf:
    case DW_CFA_val_offset_sf:
    case DW_CFA_GNU_negative_offset_extended:
      c.unsigned_leb128();
      c.unsigned_leb128();
      return true;
    case DW_CFA_expression:
    case DW_CFA_val_expression:
      c.unsigned_leb128();
      c.skip(c.unsigned_leb128());
      return true;
    default:
      return false;
    }
  }

  [[nodiscard]] std::int64_t scaled(std::int64_t value) const {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) *
                                     static_cast<std::uint64_t>(common_.data_unit));
  }

  bool advance(std::uint64_t units) {
    const std::uint64_t distance = units * common_.code_unit;
    return common_.code_unit <= 16 && advance_to(row_begin_ + distance);
  }

  bool advance_to(address to) {
    if (to < row_begin_)
      return false;
    if (to != row_begin_)
      close_row(std::min(to, end_));
    row_begin_ = to;
    return true;
  }

  void close_row(address end) {
    if (end <= row_begin_)
      return;
    const cfa_row row = make_row(end);
    if (!rows.empty() && rows.back().end == row.begin && rows.back().base == row.base &&
        rows.back().offset == row.offset && row.base != cfa_base::other_register)
      rows.back().end = end;
    else
      rows.push_back(row);
  }

  [[nodiscard]] cfa_row make_row(address end) const {
    cfa_row row{row_begin_, end, cfa_base::unknown, 0};
    if (!rule.known)
      return row;
    row.offset = rule.offset;
    if (rule.expression)
      row.base = cfa_base::expression;
    else if (rule.reg == dwarf_rsp)
      row.base = cfa_base::rsp;
    else if (rule.reg == dwarf_rbp)
      row.base = cfa_base::rbp;
    else
      row.base = cfa_base::other_register;
    return row;
  }

  const cie &common_;
  address row_begin_ = 0;
  address end_ = 0;
  std::vector<cfa_rule> remembered_;
};

} // namespace

cfa_rule initial_rule(const cie &c, const cfa_instructions &instructions) {
  cfa_program program(c);
  // No instruction of these depends on the place; any code will do.
  return program.run(instructions, 0, 1) ? program.rule : cfa_rule{};
}

std::vector<cfa_row> evaluate_cfa(const cie &c, const fde &f) {
  cfa_program program(c);
  program.rule = c.initial;
  if (!program.run(f.instructions, f.begin, f.end))
    program.rows.clear();
  return std::move(program.rows);
}

cfa_row first_cfa(const cie &c, const fde &f) {
  cfa_program program(c);
  program.rule = c.initial;
  const bool good = program.run(f.instructions, f.begin, f.begin + 1);
  return good && !program.rows.empty() ? program.rows.front() : cfa_row{};
}

} // namespace nth::stack
