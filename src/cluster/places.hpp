// Processors and places in the area, before the run-time starts.
#pragma once

#include "cluster/agree.hpp"
#include "thread/runtime.hpp"

namespace nth::detail::cluster {

// Chooses workers, and where they begin, so that ranks of one host share its processors; notes what is wrong with the
// placement in the card. All ranks call it. Answers how many homes, as a power of two, this rank needs in the area.
unsigned choose_places(nth_options &o, cluster_seat &seat, card &c) noexcept;

} // namespace nth::detail::cluster
