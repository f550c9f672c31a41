// The unwind tables (.eh_frame): where frames are, as the compiler says it, and where exceptions land.
#pragma once

#include "image/module.hpp"

namespace nth::stack {

enum class cfa_base : std::uint8_t { rsp, rbp, other_register, expression, unknown };

// How the CFA is found is all that is read of them; where registers are kept is not. Holds for instructions in [begin, end): the CFA (the caller's rsp before the call) is base + offset.
struct cfa_row {
  address begin = 0;
  address end = 0;
  cfa_base base = cfa_base::unknown;
  std::int64_t offset = 0;
};

struct unwind_entry { // one FDE
  address begin = 0;
  address end = 0;
  bool signal_frame = false;
  std::vector<address> landing_pads; // of the LSDA, without doubles
};

// Needs the module's bytes as long as it lives; the module itself may be moved.
class unwind_table {
public:
  unwind_table();
  explicit unwind_table(
      const module &m); // a damaged table: what can be read of it, and m.warnings is not touched
  unwind_table(unwind_table &&) noexcept;
  unwind_table &operator=(unwind_table &&) noexcept;
  ~unwind_table();

  std::vector<unwind_entry> entries; // sorted by begin
  std::vector<std::string> warnings;

  [[nodiscard]] const unwind_entry *entry_of(address a) const noexcept;
  // How the CFA is found at an FDE's first instruction; unknown where it is damaged.
  [[nodiscard]] cfa_row first_row(const unwind_entry &e) const;
  // Rows of one FDE, sorted; empty where there is none or it is damaged.
  [[nodiscard]] std::vector<cfa_row> rows(const unwind_entry &e) const;

private:
  struct content;
  std::unique_ptr<content> content_;
};

} // namespace nth::stack
