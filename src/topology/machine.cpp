#include "topology/machine.hpp"

#include "nth/nth.h"
#include "os/os.hpp"

#include <climits>

namespace nth::detail::topology {

namespace {

// Cores, packages, hardware threads and NUMA nodes only: looking for devices and caches would take most of
// the time. Groups keep the cores of a node side by side where no package does, whatever their numbers.
hwloc_topology_t read_topology() noexcept {
  hwloc_topology_t topology;
  if (hwloc_topology_init(&topology) != 0)
    return nullptr;
  hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
  hwloc_topology_set_type_filter(topology, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
  hwloc_topology_set_type_filter(topology, HWLOC_OBJ_PACKAGE, HWLOC_TYPE_FILTER_KEEP_ALL);
  hwloc_topology_set_type_filter(topology, HWLOC_OBJ_GROUP, HWLOC_TYPE_FILTER_KEEP_STRUCTURE);
  if (hwloc_topology_load(topology) != 0) {
    hwloc_topology_destroy(topology);
    return nullptr;
  }
  return topology;
}

// What the cgroup and the affinity of the caller leave of it.
hwloc_bitmap_t read_usable(hwloc_topology_t topology) noexcept {
  hwloc_bitmap_t usable = hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(topology));
  hwloc_bitmap_t bound = hwloc_bitmap_alloc();
  if (usable != nullptr && bound != nullptr && hwloc_topology_is_thissystem(topology)) {
    // The caller's, which kernel threads that it starts inherit. The union over all kernel threads of the
    // process would undo what the program has set, as soon as one of them was started before.
    const bool known = hwloc_get_cpubind(topology, bound, HWLOC_CPUBIND_THREAD) == 0;
    if (known && hwloc_bitmap_intersects(usable, bound))
      hwloc_bitmap_and(usable, usable, bound);
  }
  hwloc_bitmap_free(bound);
  return usable;
}

hwloc_obj_t next_node(hwloc_topology_t topology, hwloc_obj_t node) noexcept {
  return hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node);
}

// hwloc's number of the node that a hardware thread belongs to; -1: none is known (the cgroup may deny the
// memory of a node and grant its cores). Of several it is the one that fewest others share: memory that
// hangs at the whole machine is everybody's.
int node_of(hwloc_topology_t topology, int os_index) noexcept {
  int result = -1;
  int fewest = INT_MAX;
  for (hwloc_obj_t node = nullptr; (node = next_node(topology, node)) != nullptr;) {
    if (!hwloc_bitmap_isset(node->cpuset, static_cast<unsigned>(os_index)))
      continue;
    const int sharers = hwloc_bitmap_weight(node->cpuset);
    if (sharers < fewest) {
      fewest = sharers;
      result = static_cast<int>(node->logical_index);
    }
  }
  return result;
}

void number_domains(machine_tables &tables) noexcept {
  int domain = 0;
  int first_core = 0;
  for (int i = 0; i < tables.thread_count; ++i) {
    hardware_thread &own = tables.threads[i];
    const hardware_thread &before = tables.threads[i > 0 ? i - 1 : 0];
    if (own.package != before.package || own.node != before.node) {
      domain = own.package != before.package || own.package < 0 ? 0 : domain + 1;
      first_core = own.core;
    }
    own.domain = domain;
    own.core_in_domain = own.core - first_core;
  }
}

} // namespace

machine_reading::machine_reading() noexcept : topology(read_topology()) {
  if (topology != nullptr)
    usable_set = read_usable(topology);
}

machine_reading::~machine_reading() {
  hwloc_bitmap_free(usable_set);
  if (topology != nullptr)
    hwloc_topology_destroy(topology);
}

void machine_reading::list_threads(machine_tables &tables) const noexcept {
  hwloc_obj_t core = nullptr;
  int next_rank = 0;
  for (hwloc_obj_t pu = nullptr; (pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu)) != nullptr;) {
    if (!hwloc_bitmap_isset(usable_set, pu->os_index))
      continue;
    // A hardware thread without a core (some virtual machines) is one.
    hwloc_obj_t own = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, pu);
    if (own == nullptr || own != core) {
      next_rank = 0;
      ++tables.cores;
    }
    core = own;
    hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, pu);
    const int cpu = static_cast<int>(pu->os_index);
    tables.threads[tables.thread_count++] = {cpu,
                                             next_rank++,
                                             tables.cores - 1,
                                             package == nullptr ? -1
                                                                : static_cast<int>(package->logical_index),
                                             node_of(topology, cpu),
                                             0,
                                             0,
                                             0};
  }
}

// Nodes without a usable hardware thread have no worker and are left out; the others keep hwloc's order.
void machine_reading::list_nodes(machine_tables &tables) const noexcept {
  for (hwloc_obj_t node = nullptr; (node = next_node(topology, node)) != nullptr;) {
    const int hwlocs = static_cast<int>(node->logical_index);
    bool used = false;
    for (int i = 0; i < tables.thread_count; ++i) {
      hardware_thread &thread = tables.threads[i];
      if (thread.hwloc_node != hwlocs)
        continue;
      thread.node = tables.node_count;
      used = true;
    }
    if (used)
      tables.nodes[tables.node_count++] = {static_cast<int>(node->os_index),
                                           node->attr->numanode.local_memory != 0};
  }
  if (tables.node_count == 0)
    tables.nodes[tables.node_count++] = {-1, false};
}

void machine_reading::list_distances(machine_tables &tables) const noexcept {
  const int n = tables.node_count;
  for (int from = 0; from < n; ++from) {
    for (int to = 0; to < n; ++to)
      tables.distances[from * n + to] = from == to ? distance_within : distance_between;
  }
  unsigned found = 1;
  hwloc_distances_s *matrix = nullptr;
  if (hwloc_distances_get_by_type(topology, HWLOC_OBJ_NUMANODE, &found, &matrix,
                                  HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0) != 0 ||
      found == 0)
    return;
  const auto index_of = [matrix](int os_index) noexcept {
    for (unsigned i = 0; i < matrix->nbobjs; ++i) {
      if (matrix->objs[i] != nullptr && static_cast<int>(matrix->objs[i]->os_index) == os_index)
        return static_cast<int>(i);
    }
    return -1;
  };
  for (int from = 0; from < n; ++from) {
    const int row = index_of(tables.nodes[from].os_index);
    for (int to = 0; to < n && row >= 0; ++to) {
      const int column = index_of(tables.nodes[to].os_index);
      if (column < 0)
        continue;
      const hwloc_uint64_t value =
          matrix->values[static_cast<unsigned>(row) * matrix->nbobjs + static_cast<unsigned>(column)];
      tables.distances[from * n + to] = value < INT_MAX ? static_cast<int>(value) : INT_MAX;
    }
  }
  hwloc_distances_release(topology, matrix);
}

bool machine_reading::fill(machine_tables &tables) const noexcept {
  const int threads = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
  const int known_nodes = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE);
  if (threads <= 0)
    return false;
  const auto thread_room = static_cast<std::size_t>(threads);
  const auto node_room = static_cast<std::size_t>(known_nodes > 0 ? known_nodes : 1);
  // A list may name a hardware thread more than once, but no more entries than there can be workers count.
  const std::size_t place_room = thread_room > NTH_MAX_WORKERS ? thread_room : NTH_MAX_WORKERS;

  tables = {};
  tables.memory_bytes = place_room * sizeof(place) + thread_room * sizeof(hardware_thread) +
                        node_room * sizeof(numa_node) + node_room * node_room * sizeof(int);
  tables.memory = os::map_pages(tables.memory_bytes);
  if (tables.memory == nullptr)
    return false;
  tables.places = static_cast<place *>(tables.memory);
  tables.place_room = static_cast<int>(place_room);
  tables.threads = reinterpret_cast<hardware_thread *>(tables.places + place_room);
  tables.nodes = reinterpret_cast<numa_node *>(tables.threads + thread_room);
  tables.distances = reinterpret_cast<int *>(tables.nodes + node_room);
  tables.this_machine = hwloc_topology_is_thissystem(topology) != 0;

  list_threads(tables);
  if (tables.thread_count == 0) {
    drop(tables);
    return false;
  }
  list_nodes(tables);
  number_domains(tables);
  list_distances(tables);
  return true;
}

void drop(machine_tables &tables) noexcept {
  if (tables.memory != nullptr)
    os::unmap_pages(tables.memory, tables.memory_bytes);
  tables = {};
}

} // namespace nth::detail::topology
