// The machine code of stubs (nth/growth.h).
#pragma once

#include "patch/link_plan.hpp"

#include "nth/growth.h"

#include <array>

namespace nth::stack {

struct stub_surroundings {
  address morestack = 0;
  std::int32_t limits = 0;      // nth_stack_limits from the thread pointer
  bool branch_tracking = false; // IBT: who jumps through a pointer must meet endbr64
};

struct stub_code {
  std::array<std::uint8_t, NTH_STUB_SIZE> bytes{};
  address target = 0; // to call where there is no room; 0: something is too far away
};

// `at`: of the stub; `limit`: the index of its limit.
stub_code make_stub(const planned_stub &stub, address at, std::uint32_t limit,
                    const stub_surroundings &around);

} // namespace nth::stack
