#include "cluster/places.hpp"

#include "cluster/transport.hpp"
#include "thread/workers.hpp"
#include "topology/topology.hpp"

#include <cstdio>

#include <sched.h>

namespace nth::detail::cluster {

// Ranks that may use the same processors have places side by side, as long as there are any. More workers than processors
// are not bound.
unsigned choose_places(nth_options &o, cluster_seat &seat, card &c) noexcept {
  cpu_set_t processors{};
  sched_getaffinity(0, sizeof processors, &processors);
  if (c.trouble[0] == '\0') {
    const topology::load_report machine = topology::load(o.placement);
    if (machine.wrong[0] != '\0')
      std::snprintf(c.trouble, sizeof c.trouble, "NTH_PLACEMENT: %s", machine.wrong);
  }
  const bool good = c.trouble[0] == '\0';
  const int sharing = static_cast<int>(transport::share_host(&processors, sizeof processors, 1).all);
  if (good && o.workers == 0) {
    const int share = topology::default_workers() / sharing;
    o.workers = share > 0 ? share : 1;
  }
  const transport::share workers =
      transport::share_host(&processors, sizeof processors, good ? o.workers : 0);
  if (!good)
    return 0;
  seat.first_place = static_cast<int>(workers.before);
  seat.crowded = sharing > 1 && workers.all > topology::usable_cores();
  if (seat.crowded)
    o.bind = 0;
  topology::begin_at(seat.first_place);
  const home_layout homes(static_cast<int>(o.workers));
  topology::unload();
  return area::home_bits(homes.nodes, homes.homes_each);
}

} // namespace nth::detail::cluster
