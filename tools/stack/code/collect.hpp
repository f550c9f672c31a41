// From the states of a function to its facts.
#pragma once

#include "code/depth.hpp"

namespace nth::stack {

struct scanned {
  function_facts facts;
  std::vector<address> found;     // called or taken, and not in the table of functions
  bool returns_to_caller = false; // by a plain ret, or by a jump to who does
};

scanned collect_facts(const code_map &map, std::uint32_t function, depth_analysis &d);

} // namespace nth::stack
