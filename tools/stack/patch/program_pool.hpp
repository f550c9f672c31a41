// The pool in a linked program: where its parts are.
#pragma once

#include "patch/link_plan.hpp"

#include "nth/growth.h"

namespace nth::stack {

struct program_pool {
  address header_at = 0;
  nth_growth_header header{};
  address stubs = 0; // the first slot
  std::int32_t limits =
      0; // nth_stack_limits from the thread pointer, as the linker wrote it into blank stubs
  address morestack = 0;
  address entry = 0; // where a program begins that no loader starts; 0: in others
  bool branch_tracking = false;

  [[nodiscard]] address stub(std::size_t i) const noexcept { return stubs + i * NTH_STUB_SIZE; }
};

// Throws bad_input if there is none, or one that makes no sense. It may be blank or filled.
program_pool find_pool(const module &m);

// The index of the threshold that a stub of this need uses; nullopt: it covers none.
std::optional<std::uint32_t> limit_for(const std::vector<std::uint32_t> &thresholds,
                                       std::uint32_t need) noexcept;

} // namespace nth::stack
