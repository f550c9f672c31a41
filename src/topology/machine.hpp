// What is kept of hwloc's topology, and hwloc's topology while it is read. Within topology/ only.
#pragma once

#include <cstddef>

#include <hwloc.h>

namespace nth::detail::topology {

// A usable hardware thread, and where it lies, in numbers that follow hwloc's order, in which the cores of one
// package and NUMA node are neighbours. A domain is what of a node lies in one package:
//
//   package          0           1              domain            0     1     0     1
//   node          0     1     2     3           core_in_domain   0 1   0 1   0 1   0 1
//   core         0 1   2 3   4 5   6 7
struct hardware_thread {
  int os_index;
  int rank; // among the usable ones of its core: 0, 1, …
  int core;
  int package;    // -1 where there are none
  int hwloc_node; // by hwloc's numbers; -1: none
  int node;       // counts what has usable hardware threads
  int domain;     // within its package; 0 where there are none
  int core_in_domain;
};

struct numa_node {
  int os_index; // -1: not known
  bool has_memory;
};

// Where the firmware tells no distances: its unit and its usual values (ACPI, SLIT).
inline constexpr int distance_within = 10;
inline constexpr int distance_between = 20;

// Where a worker is put.
struct place {
  int os_index;
  int node;
};

// All that is asked for after load, in one mapping: hwloc's topology is dropped.
struct machine_tables {
  void *memory{nullptr}; // null: nothing is loaded
  std::size_t memory_bytes{0};
  place *places{nullptr}; // [place_count], of place_room
  int place_count{0};
  int place_room{0};
  hardware_thread *threads{nullptr}; // [thread_count]
  int thread_count{0};
  numa_node *nodes{nullptr}; // [node_count]
  int node_count{0};
  int *distances{nullptr}; // [node_count][node_count]: from the row's node to the column's
  int cores{0};
  int workers{0};           // that NTH_WORKERS=0 stands for
  bool this_machine{false}; // false: an invented one (HWLOC_SYNTHETIC), to which nothing can be bound
};

// hwloc's topology and the sets that messages about a placement speak of.
class machine_reading {
public:
  machine_reading() noexcept;
  ~machine_reading();
  machine_reading(const machine_reading &) = delete;
  machine_reading &operator=(const machine_reading &) = delete;

  bool ok() const noexcept { return usable_set != nullptr; }
  // CPUs that may be used; those that exist; NUMA nodes that exist. By the kernel's numbers.
  hwloc_const_bitmap_t usable() const noexcept { return usable_set; }
  hwloc_const_bitmap_t cpus() const noexcept { return hwloc_topology_get_complete_cpuset(topology); }
  hwloc_const_bitmap_t numa_nodes() const noexcept { return hwloc_topology_get_complete_nodeset(topology); }

  // Fills everything but the places. False: no memory, or no hardware thread.
  bool fill(machine_tables &tables) const noexcept;

private:
  void list_threads(machine_tables &tables) const noexcept;
  void list_nodes(machine_tables &tables) const noexcept;
  void list_distances(machine_tables &tables) const noexcept;

  hwloc_topology_t topology{nullptr};
  hwloc_bitmap_t usable_set{nullptr};
};

void drop(machine_tables &tables) noexcept;

} // namespace nth::detail::topology
