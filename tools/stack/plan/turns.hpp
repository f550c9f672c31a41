// How far one turn of a cycle goes down the stack (paper 002, figure 1(e)).
#pragma once

#include "graph/solve_view.hpp"
#include "plan/choose.hpp"

namespace nth::stack {

class turn_lengths {
public:
  turn_lengths(const call_graph &g, const chosen_stubs &chosen);

  // From the callee of a back edge, by calls without stubs, the longest way to its caller, and that call. 0: there is no
  // such way (it has further stubs).
  [[nodiscard]] std::int64_t of(std::uint32_t edge) const;

private:
  [[nodiscard]] bool is_plain(std::uint32_t edge) const;

  const call_graph &g_;
  const chosen_stubs &chosen_;
  std::vector<std::uint32_t> order_; // callees before callers
};

} // namespace nth::stack
