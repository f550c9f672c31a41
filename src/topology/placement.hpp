// From a placement, as NTH_PLACEMENT has it, to the places of workers. Within topology/ only.
#pragma once

#include "topology/machine.hpp"
#include "topology/topology.hpp"

namespace nth::detail::topology {

enum class placement_kind { cores, compact, scatter, list };

// null and "" are cores; what is no word is taken for a list.
placement_kind kind_of(const char *placement) noexcept;

void place_by_word(placement_kind kind, machine_tables &tables) noexcept;
// False: the list is wrong, `report.wrong` says how.
bool place_by_list(const char *list, const machine_reading &machine, machine_tables &tables,
                   load_report &report) noexcept;

} // namespace nth::detail::topology
