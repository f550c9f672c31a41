// Reads .eh_frame itself. libdw's evaluation starts each row anew from the first instruction, and takes what the
// table says of itself on trust; for the CFA alone little is needed, and every bound can be checked.
#pragma once

#include "image/unwind.hpp"

namespace nth::stack {

class cursor;

// How the CFA is found.
struct cfa_rule {
  std::uint64_t reg = 0; // as DWARF numbers it
  std::int64_t offset = 0;
  bool expression = false;
  bool known = false;
};

struct cie {
  bool usable = false;
  std::uint64_t code_unit = 1;
  std::int64_t data_unit = 1;
  std::uint8_t pointer_encoding = 0;
  std::uint8_t lsda_encoding = 0xff; // omitted
  bool has_augmentation_size = false;
  bool signal_frame = false;
  address personality = 0; // a function that is named directly, not through a word in data
  cfa_rule initial;
};

struct cfa_instructions {
  std::span<const std::uint8_t> bytes;
  address at = 0;
};

struct fde {
  address begin = 0;
  address end = 0;
  address lsda = 0;         // 0 for none
  std::uint32_t common = 0; // index in eh_frame::cies
  cfa_instructions instructions;
};

struct eh_frame {
  std::vector<cie> cies;
  std::vector<fde> fdes;     // as they come
  std::uint64_t damaged = 0; // entries left out
  bool cut = false;          // ends within an entry
};

eh_frame read_eh_frame(const module &m);

// After a CIE's instructions.
cfa_rule initial_rule(const cie &c, const cfa_instructions &instructions);
// Rows without gaps, neighbours differ; empty where the program makes no sense.
std::vector<cfa_row> evaluate_cfa(const cie &c, const fde &f);
// How it is at the first instruction.
cfa_row first_cfa(const cie &c, const fde &f);

// Where exceptions that pass through the function land, sorted, without doubles. Looks at `budget` entries at most,
// and takes those that it looked at from it.
std::vector<address> read_landing_pads(const module &m, address lsda, address function_begin,
                                       std::uint64_t &budget);

// A pointer as DW_EH_PE_… encodes it; `at` is the address of the cursor's next byte. 0 also where it is omitted,
// relative to what is not known, or kept in memory (indirect) that has no such pointer. Without a module nothing is
// relocated, and what is in memory is not known.
address take_encoded(const module *m, cursor &c, std::uint8_t encoding, address at, address function_begin);

} // namespace nth::stack
