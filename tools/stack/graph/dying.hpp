// Calls with which the program ends because something went wrong: abort, a failed assertion, a corrupted heap.
#pragma once

#include "graph/targets_code.hpp"

namespace nth::stack {

class dying_functions {
public:
  explicit dying_functions(code_targets &targets);

  // The call at s, by a function of `module`, does not return, and the program ends in it. Known by the names of those
  // functions alone: one that never returns may also throw, run handlers of exit, or loop for ever.
  [[nodiscard]] bool ends_at(std::uint32_t module, const call_site &s) const;

private:
  code_targets &targets_;
  std::vector<bool> dies_; // by node
};

} // namespace nth::stack
