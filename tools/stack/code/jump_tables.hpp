// Where an indirect jump goes: tables of switches, tables of labels, or other functions.
#pragma once

#include "code/flow.hpp"
#include "code/row_reader.hpp"
#include "code/value.hpp"

namespace nth::stack {

struct jump_targets {
  std::vector<address> local; // in this function
  bool others = false;        // another function, by its entry: a tail call
  bool unresolved = false;    // may go where no one knows
};

// `v` is what the jump at `at` takes its target from; `at_entry_depth`: rsp is where it was at the function's entry,
// as a tail call needs it.
jump_targets resolve_jump(const code_map &map, flow &f, row_reader &rows, address at, const value &v,
                          bool at_entry_depth);

// Where the pointer of a call comes from, for the graph.
pointer_source source_of(const value &v) noexcept;

} // namespace nth::stack
