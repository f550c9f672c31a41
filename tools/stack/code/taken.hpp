// Addresses of code that a function makes and may hand on: constants of its instructions, words and tables in data
// that it reads. Whom it calls or jumps to itself is not among them.
#pragma once

#include "code/flow.hpp"
#include "code/value.hpp"

namespace nth::stack {

class taken_addresses {
public:
  taken_addresses(const code_map &map, flow &f) : map_(map), flow_(f) {}

  // `after`: the state that the instruction leaves.
  void from_instruction(const instruction &i, const state &after);
  void from_relocations(address begin, address end);
  // Of a function that is not followed to its end: all that its bytes show.
  void from_sweep();

  [[nodiscard]] std::vector<address> code(); // sorted, each once

  std::vector<address> found; // code that the table of functions does not have

private:
  void take(address a);
  void take_value(const instruction &i, const value &v);
  void take_immediate(const instruction &i);
  void take_table(const value &v);

  const code_map &map_;
  flow &flow_;
  std::vector<address> code_;
};

} // namespace nth::stack
