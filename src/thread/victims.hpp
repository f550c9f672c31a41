// The order in which a worker that has run dry turns to the others: those of its own NUMA node, then those of
// the other nodes by their distance. Within a group of equal distance it begins at a random one.
//
//   victims      1 | 2 3 6 7 | 4 5      of worker 0, two workers a node, nodes in a ring
//   group_ends   1   5         7
#pragma once

#include "thread/worker.hpp"

#include <cstdint>

namespace nth::detail {

// Fills `victims` [workers - 1] and `group_ends` [workers] for worker `id`; returns the number of groups.
int order_victims(int id, int workers, std::uint16_t *victims, std::uint16_t *group_ends) noexcept;

// Calls attempt(id) for the others in this order until one answers true, and answers that.
template <class Attempt>
bool try_others(const worker *w, int workers, std::uint64_t random, Attempt attempt) noexcept {
  const std::uint16_t *group_end = w->group_ends;
  for (unsigned begin = 0; begin + 1 < static_cast<unsigned>(workers); begin = *group_end++) {
    const unsigned end = *group_end;
    unsigned at = begin + static_cast<unsigned>(random % (end - begin));
    for (unsigned left = end - begin; left > 0; --left) {
      if (attempt(static_cast<int>(w->victims[at])))
        return true;
      if (++at == end)
        at = begin;
    }
  }
  return false;
}

} // namespace nth::detail
