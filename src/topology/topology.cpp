#include "topology/topology.hpp"

#include "nth/nth.h"
#include "os/advice.hpp"
#include "topology/machine.hpp"
#include "topology/placement.hpp"

#include <cstdio>
#include <sched.h>

namespace nth::detail::topology {

namespace {

constinit machine_tables placed{};
constinit int first_place = 0;

const auto &place_of(int position) noexcept {
  return placed.places[(static_cast<long>(first_place) + position) % placed.place_count];
}

} // namespace

load_report load(const char *placement) noexcept {
  unload();
  load_report report{false, {}};
  const placement_kind kind = kind_of(placement);
  machine_tables tables;
  {
    const machine_reading machine;
    report.machine_known = machine.ok() && machine.fill(tables);
    if (report.machine_known && kind == placement_kind::list &&
        !place_by_list(placement, machine, tables, report)) {
      drop(tables);
      return report;
    }
  }
  if (report.machine_known) {
    if (kind != placement_kind::list)
      place_by_word(kind, tables);
    placed = tables;
  } else if (kind == placement_kind::list) { // a word is a wish, a list an order
    std::snprintf(report.wrong, sizeof report.wrong,
                  "\"%.40s\" cannot be followed, for the machine's CPUs cannot be read (by hwloc); unset it",
                  placement);
  }
  return report;
}

void unload() noexcept {
  drop(placed);
  first_place = 0;
}

void begin_at(int place) noexcept { first_place = place; }

int usable_cores() noexcept { return placed.cores > 0 ? placed.cores : 1; }

int default_workers() noexcept {
  if (placed.workers == 0)
    return 1;
  return placed.workers < NTH_MAX_WORKERS ? placed.workers : NTH_MAX_WORKERS;
}

int os_index(int position) noexcept {
  if (placed.place_count == 0 || position < 0)
    return 0;
  return place_of(position).os_index;
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

int nodes() noexcept { return placed.node_count > 0 ? placed.node_count : 1; }

int node_at(int position) noexcept {
  if (placed.place_count == 0 || position < 0)
    return 0;
  return place_of(position).node;
}

int node_os_index(int node) noexcept {
  return node >= 0 && node < placed.node_count ? placed.nodes[node].os_index : -1;
}

int distance(int from, int to) noexcept {
  const int n = placed.node_count;
  if (from < 0 || from >= n || to < 0 || to >= n)
    return from == to ? distance_within : distance_between;
  return placed.distances[from * n + to];
}

bool bind_memory(void *address, std::size_t size, int node) noexcept {
  const int os_node = node_os_index(node);
  if (!placed.this_machine || os_node < 0 || !placed.nodes[node].has_memory)
    return false;
  return os::prefer_node(address, size, os_node);
}

} // namespace nth::detail::topology
