// Functions that code may reach through the data that it names.
#pragma once

#include "graph/program.hpp"

namespace nth::stack {

struct named_functions {
  std::vector<address> here;                // in this module
  std::vector<const relocation *> imported; // words that become the address of a symbol
};

// What the objects hold that the function's instructions name. Where no symbol tells an object's end, it ends before
// a row of words that are no pointers to functions.
named_functions functions_in_named_data(const analysed_module &m, const function &f);

} // namespace nth::stack
