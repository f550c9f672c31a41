// Every place of an executable that takes the address of a function. What relocations, which the linker kept, what
// disassembly and what the words of the GOT tell is held against each other: a place that only one of them could be right
// about is an obstacle.
//
// Not among them, because nobody calls through them or they must tell where the code itself is: direct calls and jumps,
// arrays of initializers, unwind and exception tables, symbols that are not exported, debug information.
#pragma once

#include "image/functions.hpp"

namespace nth::stack {

enum class reference_kind : std::uint8_t {
  code_relative,     // lea f(%rip)
  code_absolute,     // an immediate
  data_absolute,     // a word of 8 or 4 bytes: a table, a vtable, the GOT
  data_relative,     // f - table: an entry of a table of distances
  relocation_addend, // of the loader's relocation of a word
  exported           // the symbol by which libraries find it
};

// Adding a distance to the field makes the place lead that far from the function.
struct reference {
  std::uint64_t field = 0; // in the file
  address at = 0;          // of the instruction or word; of an exported symbol the function's
  std::uint8_t size = 0;   // of the field: 4 or 8
  reference_kind kind = reference_kind::data_absolute;

  bool operator==(const reference &) const noexcept = default;
};

struct function_references {
  address function = 0;
  std::vector<reference> places; // sorted by field, each once
  std::string obstacle;          // why they can't all be redirected; "": they can
};

// One for each of `functions` (entries; in their order). `m` is an executable with the relocations that its linker kept;
// of a copy from which they were removed: those of `kept`, the file it was made from.
std::vector<function_references> find_references(const module &m, const function_table &table,
                                                 const std::vector<address> &functions);
std::vector<function_references> find_references(const module &m, const function_table &table,
                                                 const std::vector<address> &functions, const module &kept);

std::string_view name_of(reference_kind k) noexcept;

} // namespace nth::stack
