// The run-time at rest, seen from inside: what its lists hold, and what they may hold.
#pragma once

#include "runtime.hpp"

#include "thread/desc_memory.hpp"
#include "thread/runtime.hpp"

#include <ostream>

namespace nth::test {

// Returns when no thread is alive and all workers sleep: each has given away what it keeps for others.
inline void wait_for_rest() {
  detail::runtime &rt = detail::the_runtime;
  spin_until([&] {
    long live = 0;
    detail::for_each_live([](nth_desc *, void *sum) noexcept { ++*static_cast<long *>(sum); }, &live);
    return live == 0 && rt.sleepers.load(std::memory_order_seq_cst) == rt.workers &&
           rt.searching.load(std::memory_order_seq_cst) == 0;
  });
}

struct idle_objects {
  long allocated;
  long in_use;
  long at_workers;
  long under_way;
  long at_nodes;
  long in_global;
  long idle() const { return at_workers + under_way + at_nodes + in_global; }
};
inline std::ostream &operator<<(std::ostream &out, const idle_objects &o) {
  return out << o.allocated << " allocated, " << o.in_use << " in use, idle: " << o.at_workers
             << " at workers, " << o.under_way << " under way, " << o.at_nodes << " at nodes, " << o.in_global
             << " for all";
}

// By a walk over all lists.
inline idle_objects descs_at_rest() {
  detail::runtime &rt = detail::the_runtime;
  idle_objects result = {detail::descs_allocated(), 0, 0, 0, 0, 0};
  const auto members = [](const detail::block *first) {
    long sum = 0;
    for (; first != nullptr; first = first->next)
      sum += first->hi;
    return sum;
  };
  for (int i = 0; i <= rt.workers; ++i) {
    const detail::worker *w = rt.at(i);
    result.at_workers += w->free_count;
    result.at_workers += members(w->free_first) + members(w->returned.load(std::memory_order_acquire));
    for (const nth_desc *d = w->loose; d != nullptr; d = d->next)
      ++result.at_workers;
    for (int home = 0; home < detail::the_area.homes; ++home)
      result.under_way += w->returns_to[home] == nullptr ? 0 : w->returns_to[home]->hi;
  }
  const auto chains = [&members](const detail::block *first) {
    long sum = 0;
    for (; first != nullptr; first = first->next_chain)
      sum += members(first);
    return sum;
  };
  detail::the_descs.visit_chains([&](const detail::block *at_node, const detail::block *global) {
    result.at_nodes += chains(at_node);
    result.in_global += chains(global);
  });
  return result;
}

// Those of the default class. In use: the one on which each worker's loop stands, and under policy dos one a
// descriptor.
inline idle_objects stacks_at_rest() {
  detail::runtime &rt = detail::the_runtime;
  const unsigned r = detail::the_stacks.region();
  const detail::stack_memory::numbers n = detail::the_stacks.count(r);
  idle_objects result = {n.allocated, rt.workers, 0, 0, n.at_nodes, n.in_global};
  if (rt.policy == NTH_POLICY_DOS)
    result.in_use += detail::descs_allocated();
  for (int i = 0; i <= rt.workers; ++i) {
    const detail::worker *w = rt.at(i);
    result.at_workers += w->stacks[r].count() + (w->dropped != nullptr ? 1 : 0);
    for (int node = 0; w->stacks_away != nullptr && node < detail::the_area.nodes; ++node)
      result.under_way += w->stacks_away[static_cast<unsigned>(node) * detail::stack_regions + r].count;
  }
  return result;
}

// Paper 001, section 1.3, with a stage for each node; kernel threads that are no workers count as one.
inline long idle_bound(long local, long node, long global) {
  return (detail::the_runtime.workers + 1) * local + detail::the_area.nodes * node + global;
}

} // namespace nth::test
