// The cores that the caller of load may use, by its cgroup and its affinity mask, in the order in which
// workers are placed on them.
#pragma once

#include <cstddef>

namespace nth::detail::topology {

// Reads the machine by hwloc (HWLOC_SYNTHETIC and HWLOC_XMLFILE work). False: hwloc failed; one core is
// assumed then. Called once by the starting kernel thread, before any worker.
bool load() noexcept;
void unload() noexcept;

int usable_cores() noexcept;         // at least 1
int os_index(int position) noexcept; // the kernel's number of the position-th usable hardware thread
bool bind_current_thread(int position) noexcept; // position modulo usable hardware threads; false: refused

} // namespace nth::detail::topology
