// Unwind tables: each row against libdw's, landing pads against the compiler's assembly.
#include "image/unwind.hpp"
#include "subject.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string_view>

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gtest/gtest.h>

using namespace nth::stack;
using namespace nth::stack::test;

namespace {

struct libdw_row {
  address begin = 0, end = 0;
  cfa_base base = cfa_base::unknown;
  std::int64_t offset = 0;
};

libdw_row row_by_libdw(Dwarf_CFI *cfi, address a) {
  Dwarf_Frame *frame = nullptr;
  libdw_row row;
  if (dwarf_cfi_addrframe(cfi, a, &frame) != 0)
    return row;
  Dwarf_Op *ops = nullptr;
  std::size_t count = 0;
  bool signal = false;
  dwarf_frame_info(frame, &row.begin, &row.end, &signal);
  if (dwarf_frame_cfa(frame, &ops, &count) == 0) {
    row.base = cfa_base::expression;
    if (count == 1 && ops[0].atom == DW_OP_bregx) {
      row.base = ops[0].number == 7   ? cfa_base::rsp
                 : ops[0].number == 6 ? cfa_base::rbp
                                      : cfa_base::other_register;
      row.offset = static_cast<std::int64_t>(ops[0].number2);
    } else if (count == 1 && ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31) {
      const int reg = ops[0].atom - DW_OP_breg0;
      row.base = reg == 7 ? cfa_base::rsp : reg == 6 ? cfa_base::rbp : cfa_base::other_register;
      row.offset = static_cast<std::int64_t>(ops[0].number);
    }
  }
  free(frame);
  return row;
}

// Of at most `most` unwind entries of a file, evenly taken.
void compare_rows(const std::filesystem::path &path, std::size_t most) {
  const module m(path);
  const unwind_table u(m);
  EXPECT_TRUE(u.warnings.empty()) << u.warnings.front();
  ASSERT_FALSE(u.entries.empty()) << path;
  Dwarf_CFI *cfi = dwarf_getcfi_elf(m.elf());
  ASSERT_NE(cfi, nullptr) << path;
  std::size_t compared = 0;
  const std::size_t step = u.entries.size() / most + 1;
  for (std::size_t i = 0; i < u.entries.size(); i += step) {
    const unwind_entry &e = u.entries[i];
    const auto rows = u.rows(e);
    ASSERT_FALSE(rows.empty()) << path << std::hex << e.begin;
    ASSERT_EQ(rows.front().begin, e.begin);
    ASSERT_EQ(rows.back().end, e.end);
    const cfa_row first = u.first_row(e);
    EXPECT_TRUE(first.base == rows.front().base && first.offset == rows.front().offset);
    address at = e.begin;
    for (const cfa_row &row : rows) {
      ASSERT_EQ(row.begin, at) << path;
      // libdw makes a row of each change, of other registers' too.
      while (at < row.end) {
        const libdw_row other = row_by_libdw(cfi, at);
        ASSERT_GT(other.end, at) << path << std::hex << at;
        ASSERT_EQ(row.base, other.base) << path << " " << std::hex << at;
        if (row.base != cfa_base::expression) {
          ASSERT_EQ(row.offset, other.offset) << path << " " << std::hex << at;
        }
        ASSERT_LE(std::min<address>(other.end, e.end), row.end) << path << " " << std::hex << at;
        at = std::min<address>(other.end, e.end);
        ++compared;
      }
    }
  }
  EXPECT_GE(compared, std::min(most, u.entries.size())) << path;
  dwarf_cfi_end(cfi);
}

} // namespace

TEST(unwind, rows_are_those_of_libdw) {
  for (const auto &path : system_files())
    compare_rows(path, 600);
  compare_rows(build("throwing.cpp", "-fno-omit-frame-pointer", "g++"), 1000);
  compare_rows(build("plain.c", "-static"), 600);
}

TEST(unwind, is_found_without_sections) {
  const auto path = build("throwing.cpp", "", "g++");
  const module with(path);
  auto bytes = read_bytes(path);
  std::fill_n(bytes.begin() + 0x28, 8, std::uint8_t{0}); // e_shoff
  std::fill_n(bytes.begin() + 0x3c, 4, std::uint8_t{0}); // e_shnum, e_shstrndx
  const module without("bare", bytes);
  ASSERT_TRUE(without.sections.empty());
  const unwind_table a(with), b(without);
  ASSERT_EQ(a.entries.size(), b.entries.size());
  for (std::size_t i = 0; i != a.entries.size(); ++i) {
    EXPECT_EQ(a.entries[i].begin, b.entries[i].begin);
    EXPECT_EQ(a.entries[i].landing_pads, b.entries[i].landing_pads);
    EXPECT_EQ(a.rows(a.entries[i]).size(), b.rows(b.entries[i]).size());
  }
}

// In assembly each call site of an exception table is four .uleb128, the third one the landing pad or 0.
TEST(unwind, landing_pads_are_those_of_the_assembly) {
  const std::string listing =
      output_of("g++ -O2 -g0 -S -o - " SUBJECTS "/throwing.cpp"); // with the flags that build() adds
  std::set<std::string> expected;
  bool sites = false;
  int operand = 0;
  for (const std::string &line : lines_of(listing)) {
    if (line.starts_with(".LLSDACSB"))
      sites = true;
    if (line.starts_with(".LLSDACSE"))
      sites = false;
    if (line.starts_with(".LLSDACSB"))
      operand = 0;
    const auto at = line.find(".uleb128 ");
    if (!sites || at == std::string::npos)
      continue;
    if (operand % 4 == 2 && line.substr(at + 9) != "0")
      expected.insert(line.substr(at + 9, line.find('-', at) - at - 9));
    ++operand;
  }
  ASSERT_GE(expected.size(), 4u);
  // The assembler keeps the labels for us.
  const module m(build("throwing.cpp", "-Wa,-L", "g++"));
  const unwind_table u(m);
  std::set<address> places, pads;
  for (const symbol &label : m.symbols)
    if (expected.contains(std::string(label.name)))
      places.insert(label.at);
  for (const unwind_entry &e : u.entries)
    pads.insert(e.landing_pads.begin(), e.landing_pads.end());
  EXPECT_EQ(places.size(), expected.size());
  EXPECT_EQ(pads, places);
}

TEST(unwind, knows_frames_of_signal_handlers) {
  const module m(build("plain.c", "-static"));
  const unwind_table u(m);
  EXPECT_EQ(std::ranges::count_if(u.entries, &unwind_entry::signal_frame), 1) << "__restore_rt";
}

TEST(unwind, of_nothing_is_empty) {
  const unwind_table u;
  EXPECT_EQ(u.entry_of(0x1000), nullptr);
  EXPECT_TRUE(u.rows({0x1000, 0x1010, false, {}}).empty());
}
