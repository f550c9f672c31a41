#include "thread/victims.hpp"

#include "topology/topology.hpp"

#include <climits>

namespace nth::detail {

static_assert(NTH_MAX_WORKERS <= UINT16_MAX, "victims are numbered in 16 bits");

namespace {

// Below any distance for the own node, which is nearest whatever the firmware says.
long distance_of(int here, int there) noexcept {
  return here == there ? -1 : topology::distance(here, there);
}

} // namespace

int order_victims(int id, int workers, std::uint16_t *victims, std::uint16_t *group_ends) noexcept {
  const int here = topology::node_at(id);
  int groups = 0;
  int count = 0;
  for (long last = LONG_MIN; count < workers - 1;) {
    long next = LONG_MAX;
    for (int node = 0; node < topology::nodes(); ++node) {
      const long d = distance_of(here, node);
      if (d > last && d < next)
        next = d;
    }
    const int before = count;
    for (int other = 0; other < workers; ++other) {
      if (other != id && distance_of(here, topology::node_at(other)) == next)
        victims[count++] = static_cast<std::uint16_t>(other);
    }
    if (count > before)
      group_ends[groups++] = static_cast<std::uint16_t>(count);
    last = next;
  }
  return groups;
}

} // namespace nth::detail
