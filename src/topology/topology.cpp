#include "topology/topology.hpp"

#include "os/os.hpp"

#include <hwloc.h>
#include <sched.h>

namespace nth::detail::topology {

namespace {

// Hardware threads in the order of placement: the first of each core, then the second of each, and so on,
// so that workers get cores of their own as long as there are any. Cores keep hwloc's order, in which
// those of one package and NUMA node are neighbours.
//
// hwloc's topology is dropped after it was read: these numbers are all that is asked for later.
struct places {
  int *indices; // the kernel's numbers; null: nothing is loaded
  std::size_t mapped_bytes;
  int count;
  int cores;
  bool this_machine; // false: an invented machine (HWLOC_SYNTHETIC), to which nothing can be bound
};
constinit places placed{nullptr, 0, 0, 0, false};

// Cores, hardware threads and NUMA nodes only: looking for devices and caches would take most of the time.
hwloc_topology_t read_machine() noexcept {
  hwloc_topology_t machine;
  if (hwloc_topology_init(&machine) != 0)
    return nullptr;
  hwloc_topology_set_all_types_filter(machine, HWLOC_TYPE_FILTER_KEEP_NONE);
  hwloc_topology_set_type_filter(machine, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
  if (hwloc_topology_load(machine) != 0) {
    hwloc_topology_destroy(machine);
    return nullptr;
  }
  return machine;
}

// What the cgroup and the affinity of the caller leave of it.
hwloc_bitmap_t usable_set(hwloc_topology_t machine) noexcept {
  hwloc_bitmap_t usable = hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(machine));
  hwloc_bitmap_t bound = hwloc_bitmap_alloc();
  if (usable != nullptr && bound != nullptr && hwloc_topology_is_thissystem(machine)) {
    // The caller's, which kernel threads that it starts inherit. The union over all kernel threads of the
    // process would undo what the program has set, as soon as one of them was started before.
    const bool known = hwloc_get_cpubind(machine, bound, HWLOC_CPUBIND_THREAD) == 0;
    if (known && hwloc_bitmap_intersects(usable, bound))
      hwloc_bitmap_and(usable, usable, bound);
  }
  hwloc_bitmap_free(bound);
  return usable;
}

// Appends the usable hardware threads that come `rank`-th in their core; false: no core has so many.
bool append_rank(hwloc_topology_t machine, hwloc_const_bitmap_t usable, int rank, places &to) noexcept {
  bool found = false;
  hwloc_obj_t core = nullptr;
  int next_in_core = 0;
  for (hwloc_obj_t pu = nullptr; (pu = hwloc_get_next_obj_by_type(machine, HWLOC_OBJ_PU, pu)) != nullptr;) {
    if (!hwloc_bitmap_isset(usable, pu->os_index))
      continue;
    // A hardware thread without a core (some virtual machines) is one.
    hwloc_obj_t own = hwloc_get_ancestor_obj_by_type(machine, HWLOC_OBJ_CORE, pu);
    if (own == nullptr || own != core)
      next_in_core = 0;
    core = own;
    if (next_in_core++ != rank)
      continue;
    to.indices[to.count++] = static_cast<int>(pu->os_index);
    found = true;
  }
  return found;
}

} // namespace

bool load() noexcept {
  unload();
  hwloc_topology_t machine = read_machine();
  if (machine == nullptr)
    return false;
  hwloc_bitmap_t usable = usable_set(machine);
  const int number = hwloc_get_nbobjs_by_type(machine, HWLOC_OBJ_PU);
  places result{nullptr, 0, 0, 0, hwloc_topology_is_thissystem(machine) != 0};
  if (usable != nullptr && number > 0) {
    result.mapped_bytes = static_cast<std::size_t>(number) * sizeof(int);
    result.indices = static_cast<int *>(os::map_pages(result.mapped_bytes));
  }
  if (result.indices != nullptr) {
    for (int rank = 0; append_rank(machine, usable, rank, result); ++rank)
      if (rank == 0)
        result.cores = result.count;
  }
  hwloc_bitmap_free(usable);
  hwloc_topology_destroy(machine);
  if (result.indices != nullptr && result.count == 0) {
    os::unmap_pages(result.indices, result.mapped_bytes);
    result.indices = nullptr;
  }
  if (result.indices == nullptr)
    return false;
  placed = result;
  return true;
}

void unload() noexcept {
  if (placed.indices != nullptr)
    os::unmap_pages(placed.indices, placed.mapped_bytes);
  placed = {nullptr, 0, 0, 0, false};
}

int usable_cores() noexcept { return placed.cores > 0 ? placed.cores : 1; }

int os_index(int position) noexcept {
  if (placed.indices == nullptr || position < 0)
    return 0;
  return placed.indices[position % placed.count];
}

// By the kernel's call: hwloc's would want its topology kept, and answers success for a machine that is
// not this one.
bool bind_current_thread(int position) noexcept {
  if (!placed.this_machine || position < 0)
    return false;
  const auto index = static_cast<std::size_t>(os_index(position));
  constexpr std::size_t most = 16384; // hardware threads that a set may name; the kernel's limit is 8192
  constexpr std::size_t bits = 8 * sizeof(unsigned long);
  if (index >= most)
    return false;
  unsigned long words[most / bits] = {};
  words[index / bits] = 1UL << index % bits;
  return sched_setaffinity(0, sizeof words, reinterpret_cast<const cpu_set_t *>(words)) == 0;
}

} // namespace nth::detail::topology
