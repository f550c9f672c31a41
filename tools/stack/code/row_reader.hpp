// Rows of the unwind table, read once for each of its entries that a function needs.
#pragma once

#include "image/unwind.hpp"

namespace nth::stack {

class row_reader {
public:
  explicit row_reader(const unwind_table &u) : unwind_(u) {}

  [[nodiscard]] const unwind_entry *entry_of(address a);
  [[nodiscard]] const cfa_row *row_at(address a); // nullptr: none tells

private:
  struct part {
    const unwind_entry *entry;
    std::vector<cfa_row> rows;
  };
  part *part_of(address a);

  const unwind_table &unwind_;
  std::vector<part> parts_;
  std::size_t last_ = 0;
};

} // namespace nth::stack
