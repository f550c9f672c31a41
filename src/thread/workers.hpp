// The workers of a run: made at its start.
#pragma once

#include "thread/runtime.hpp"

namespace nth::detail {

// How the area is divided (area.hpp): homes of one node lie side by side.
struct home_layout {
  int nodes{1};
  int homes_each{0}; // on the fullest node
  explicit home_layout(int workers) noexcept;
};

// The area, and the lists of stacks, are open.
bool make_workers(runtime &rt) noexcept;   // false: no memory
bool prepare_stacks(runtime &rt) noexcept; // false: no memory

} // namespace nth::detail
