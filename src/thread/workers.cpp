// The workers of a run: their memory, their homes in the area, the stacks that they begin with.
#include "thread/workers.hpp"

#include "os/os.hpp"
#include "thread/dispatch.hpp"
#include "thread/victims.hpp"
#include "topology/topology.hpp"

#include <new>

namespace nth::detail {

namespace {

constexpr std::size_t round_up(std::size_t n, std::size_t unit) noexcept {
  return (n + unit - 1) / unit * unit;
}

// Arrays of one worker, beside one another; where each of them begins.
struct worker_layout {
  std::size_t outgoing{0};
  std::size_t returns{0};
  std::size_t victims{0}; // and the ends of their groups
  std::size_t stacks_away{0};
  std::size_t blocks_away{0};
  std::size_t each{0};
  worker_layout(int workers, int homes, int nodes) noexcept {
    add(outgoing, sizeof(window) * static_cast<std::size_t>(workers));
    add(returns, sizeof(block *) * static_cast<std::size_t>(homes));
    add(victims, 2 * sizeof(std::uint16_t) * static_cast<std::size_t>(workers));
    if (nodes > 1) {
      add(stacks_away, sizeof(chain<stack_top>) * stack_regions * static_cast<std::size_t>(nodes));
      add(blocks_away, sizeof(chain<block>) * static_cast<std::size_t>(nodes));
    }
    each = round_up(each, 128);
  }

private:
  void add(std::size_t &begin, std::size_t bytes) noexcept {
    begin = each;
    each += round_up(bytes, 64);
  }
};

// Of a machine with more nodes than the area tells apart, several count as one.
int node_of_worker(int i) noexcept { return topology::node_at(i) % most_nodes; }

} // namespace

home_layout::home_layout(int workers) noexcept {
  int on[most_nodes] = {1}; // the home of kernel threads outside is one of node 0
  nodes = topology::nodes() < most_nodes ? topology::nodes() : most_nodes;
  for (int i = 0; i < workers; ++i)
    ++on[node_of_worker(i)];
  for (const int n : on)
    homes_each = n > homes_each ? n : homes_each;
}

bool make_workers(runtime &rt) noexcept {
  const worker_layout layout(rt.workers, the_area.homes, the_area.nodes);
  const auto count = static_cast<std::size_t>(rt.workers) + 1;
  // Workers are found by index, so their arrays lie behind all of them.
  const std::size_t homes_at = round_up(count * (sizeof(worker) + layout.each), 64);
  rt.memory_bytes =
      round_up(homes_at + static_cast<std::size_t>(the_area.homes) * sizeof(int), os::page_size());
  void *memory = os::map_pages(rt.memory_bytes);
  if (memory == nullptr)
    return false;
  rt.worker_memory = static_cast<worker *>(memory);
  rt.worker_of_home = reinterpret_cast<int *>(static_cast<char *>(memory) + homes_at);
  for (int h = 0; h < the_area.homes; ++h)
    rt.worker_of_home[h] = -1;
  char *arrays = static_cast<char *>(memory) + count * sizeof(worker);
  for (int i = 0; i <= rt.workers; ++i, arrays += layout.each) {
    auto *w = new (rt.at(i)) worker;
    w->id = i;
    w->special = 0;
    w->node = i < rt.workers ? node_of_worker(i) : 0;
    w->home = w->node << the_area.node_shift;
    while (rt.worker_of_home[w->home] >= 0)
      ++w->home;
    rt.worker_of_home[w->home] = i;
    w->tick = inbox_period;
    w->random = static_cast<std::uint64_t>(i) * 0x9e37'79b9'7f4a'7c15U + 1;
    w->active.store(1, std::memory_order_relaxed);
    w->fork.top = w->fork.bottom = &w->fork.none;
    w->request.store(one_sided_barrier ? request_idle : request_fence, std::memory_order_relaxed);
    const part &own = rt.policy == NTH_POLICY_DOS ? the_area.at(the_stacks.region(), w->home)
                                                  : the_area.at(region::descriptors, w->home);
    w->home_begin = own.begin();
    w->home_bytes = std::uintptr_t{1} << the_area.home_shift;
    if (i == rt.workers) {
      // It never goes idle, so nothing of its node is on its way home from here for ever.
      w->home_begin = the_area.node_begin(the_area.region_of(own.begin()), w->node);
      w->home_bytes = the_area.node_bytes();
    }
    w->own.outgoing = reinterpret_cast<window *>(arrays + layout.outgoing);
    w->returns_to = reinterpret_cast<block **>(arrays + layout.returns);
    w->victims = reinterpret_cast<std::uint16_t *>(arrays + layout.victims);
    w->group_ends = w->victims + rt.workers;
    if (the_area.nodes > 1) {
      w->stacks_away = reinterpret_cast<chain<stack_top> *>(arrays + layout.stacks_away);
      w->blocks_away = reinterpret_cast<chain<block> *>(arrays + layout.blocks_away);
    }
    bound_forks(w, 0);
    if (i < rt.workers) {
      if (rt.policy == NTH_POLICY_DSR)
        w->join_floor = (std::uintptr_t{1} << rt.stack_log2) / 8 * 7;
      order_victims(i, rt.workers, w->victims, w->group_ends);
    }
  }
  // Homes of no worker serve others that are full: what ends of theirs goes to the first of their node.
  for (int h = 0; h < the_area.homes; ++h) {
    if (rt.worker_of_home[h] < 0) {
      const int first = rt.worker_of_home[h >> the_area.node_shift << the_area.node_shift];
      rt.worker_of_home[h] = first >= 0 ? first : rt.workers;
    }
  }
  return true;
}

// Paper 000, section 5: the number of stacks is known before the run, and they are allocated at once,
// while nobody else runs and no lock is needed. Ours are (doc/design.md, "How many stacks"):
//   dsr  P + 1    a loop's a worker, and one for the main thread, which blocks
//   lsa  2P + 1   the loop's own besides
//   dos  P        a loop's a worker; threads bring theirs
bool prepare_stacks(runtime &rt) noexcept {
  const int per_worker = rt.policy == NTH_POLICY_LSA ? 2 : 1;
  const unsigned r = the_stacks.region();
  for (int i = 0; i < rt.workers; ++i) {
    worker *w = rt.at(i);
    long count = per_worker;
    if (rt.policy == NTH_POLICY_DOS && i == 0 && the_stacks.allocated() == 1) {
      // The stack on which the guard was proved has no other use here.
      give_stack(w, take_stack(w, r));
      count = 0;
    }
    if (!the_stacks.prepare(w->home, count, w->stacks[r]))
      return false;
  }
  if (rt.policy == NTH_POLICY_DOS || the_stacks.allocated() > rt.workers * per_worker)
    return true;
  stack_list one;
  const int home = rt.outside()->home;
  if (!the_stacks.prepare(home, 1, one))
    return false;
  the_stacks.put(r, one.take_current(), home >> the_area.node_shift);
  return true;
}

} // namespace nth::detail
