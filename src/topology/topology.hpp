// Where workers run: the hardware threads that the caller of load may use, by its cgroup and its affinity
// mask, in the order of a placement; and the NUMA nodes that these belong to.
//
//   position   0    1    2    3      worker i has position i
//   place     CPU  CPU  CPU  CPU     the kernel's numbers (os_index), repeated when there are more workers
//   node       0    0    1    1      logical numbers (node_at): 0 to nodes() - 1
#pragma once

#include <cstddef>

namespace nth::detail::topology {

struct load_report {
  bool machine_known; // false: hwloc failed; one core and one node are assumed then
  char wrong[320];    // what is wrong with the placement, as a clause; "": nothing. Nothing is loaded if not
};

// Reads the machine by hwloc (HWLOC_SYNTHETIC and HWLOC_XMLFILE work) and places workers as `placement`
// says; null and "" stand for "cores". doc/options.md has the words and the form of a list. Called once by
// the starting kernel thread, before any worker.
load_report load(const char *placement) noexcept;
void unload() noexcept;
// Workers begin at this place: those before it are other ranks' of a cluster run, on the same machine. Until unload().
void begin_at(int place) noexcept;

int usable_cores() noexcept; // at least 1
// Usable cores or, where a list is the placement, the different CPUs in it; NTH_MAX_WORKERS at most.
int default_workers() noexcept;

// `position` counts modulo the number of places.
int os_index(int position) noexcept;             // the kernel's number of the position-th hardware thread
bool bind_current_thread(int position) noexcept; // false: refused

int nodes() noexcept;                    // NUMA nodes that hold usable hardware threads; at least 1
int node_at(int position) noexcept;      // that of the position-th hardware thread
int node_os_index(int node) noexcept;    // the kernel's number; -1: not known
int distance(int from, int to) noexcept; // as the firmware tells: 10 within a node, more the farther

// Has the kernel take pages of [address, address + size), which are not there yet, from `node` as long as it
// has any. False: refused, a node without memory, or a machine that is not this one.
bool bind_memory(void *address, std::size_t size, int node) noexcept;

} // namespace nth::detail::topology
