// The source that the library has: free lists of workers, NUMA nodes and all (paper 001, sections 1 and 2), over
// whole task memories cut from one mapping. Stack, descriptor and context are one object, as the library has
// a descriptor beside a stack of its area:
//
//   | stack, 16 KiB ............ <-- grows | task_t | context_t, links |
//   ^ task_memory                          ^ a line each
//
// An object is a few lines larger than its stack, so that the tops of the stacks don't share cache sets.
#ifndef NTH_BENCH_TASK_MEMORY_LIST_SOURCE_HPP
#define NTH_BENCH_TASK_MEMORY_LIST_SOURCE_HPP

#include "memory/free_list.hpp"
#include "task_memory/task.hpp"

#include <atomic>
#include <cstdint>
#include <vector>

namespace bench::task_memory {

struct alignas(64) task_object {
  char stack[stack_bytes];
  alignas(64) task_t task;
  alignas(64) context_t context;
  task_object *next; // what free_list.hpp asks for
  task_object *next_chain;
  std::uint32_t chain_count;
  int node; // whose memory it is (paper 001, section 2, step 2)
};
static_assert(sizeof(task_object) == stack_bytes + 128);

class list_source {
public:
  struct local {
    nth::detail::local_list<task_object> list;
    nth::detail::chain<task_object> away; // of another node, on their way home
    int away_node = 0;
    long fresh = 0; // objects of the mapping that are this scheduler's and were never used: from this index
    long fresh_end = 0;
    int node = 0;
  };

  list_source(int schedulers, nth::detail::thresholds bounds);
  ~list_source();
  list_source(const list_source &) = delete;
  list_source &operator=(const list_source &) = delete;

  void enter(local &l);
  void leave(local &l); // what lies in its list goes up to the pools

  task_t *take(local &l) {
    task_object *o = l.list.pop();
    return &(o != nullptr ? o : refill(l))->task;
  }

  void give_back(local &l, task_t *t) {
    // The descriptor lies at a fixed place in its object.
    auto *o = reinterpret_cast<task_object *>(reinterpret_cast<char *>(t) - offsetof(task_object, task));
    if (o->node != l.node) [[unlikely]]
      send_home(l, o);
    else if (!l.list.push(o, half)) [[unlikely]]
      lift(l, o);
  }

  // When nothing runs: ends the program when an object was lost or more lie idle than the thresholds allow.
  void check(const std::vector<const local *> &all);

private:
  task_object *refill(local &l);
  void lift(local &l, task_object *o);
  void send_home(local &l, task_object *o);
  static void release(nth::detail::chain<task_object> c) noexcept;

  static constexpr int most_nodes = 64;
  static constexpr long most_objects = 1L << 16;

  int nodes = 1;
  std::uint32_t half;
  task_object *mapping;
  std::atomic<long> first_unused{0};
  nth::detail::free_pools<task_object, most_nodes> pools;
};
static_assert(memory_source<list_source>);

} // namespace bench::task_memory

#endif
