#include "task_memory/list_source.hpp"

#include "common/harness.hpp"

#include <mutex>
#include <new>
#include <string>

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

namespace bench::task_memory {

namespace {

constexpr long objects_a_cut = 16;
constexpr std::size_t page = 4096;

// Objects whose stacks were given back to the kernel. Their addresses are used again before new ones are cut.
struct {
  std::mutex lock;
  nth::detail::chain<task_object> objects;
} cold;

// Whole pages of the stack alone: the links behind it must stay.
void discard_stack(task_object &o) {
  const auto begin = (reinterpret_cast<std::uintptr_t>(o.stack) + page - 1) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(o.stack + stack_bytes) / page * page;
  madvise(reinterpret_cast<void *>(begin), end - begin, MADV_DONTNEED);
}

} // namespace

list_source::list_source(int schedulers, nth::detail::thresholds bounds) {
  void *m = mmap(nullptr, most_objects * sizeof(task_object), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (m == MAP_FAILED)
    fail("task_memory: no address space for the stacks");
  madvise(m, most_objects * sizeof(task_object), MADV_NOHUGEPAGE); // as the library has it for stacks
  mapping = static_cast<task_object *>(m);
  while (nodes < most_nodes &&
         access(("/sys/devices/system/node/node" + std::to_string(nodes)).c_str(), F_OK) == 0)
    ++nodes;
  pools.open(nodes, schedulers, bounds, release, nullptr);
  half = pools.half();
}

list_source::~list_source() {
  cold.objects = {};
  munmap(mapping, most_objects * sizeof(task_object));
}

void list_source::enter(local &l) {
  unsigned core = 0, node = 0;
  if (getcpu(&core, &node) == 0 && node < static_cast<unsigned>(nodes))
    l.node = static_cast<int>(node);
}

void list_source::leave(local &l) {
  pools.put(l.list.take_reserve(), l.node);
  pools.put(l.list.take_current(), l.node);
  pools.put(l.away, l.away_node);
  l.away = {};
}

task_object *list_source::refill(local &l) {
  if (const auto chain = pools.take(l.node); chain.head != nullptr) {
    l.list.fill(chain);
    return l.list.pop();
  }
  {
    std::lock_guard hold(cold.lock);
    if (task_object *o = cold.objects.pop(); o != nullptr)
      return o;
  }
  if (l.fresh == l.fresh_end) {
    l.fresh = first_unused.fetch_add(objects_a_cut);
    l.fresh_end = l.fresh + objects_a_cut;
    if (l.fresh_end > most_objects)
      fail("task_memory: more than " + std::to_string(most_objects) + " tasks at one time");
  }
  // First touched here, so the kernel takes the memory from this scheduler's node.
  task_object *o = mapping + l.fresh++;
  new (&o->task) task_t;
  o->context = {nullptr, o->stack, stack_bytes};
  o->task.context = &o->context;
  o->node = l.node;
  return o;
}

void list_source::lift(local &l, task_object *o) {
  pools.put(l.list.take_reserve(), l.node);
  l.list.push(o, half);
}

void list_source::send_home(local &l, task_object *o) {
  if (o->node != l.away_node || l.away.count == half) {
    pools.put(l.away, l.away_node);
    l.away = {};
    l.away_node = o->node;
  }
  l.away.push(o);
}

void list_source::release(nth::detail::chain<task_object> c) noexcept {
  std::lock_guard hold(cold.lock);
  while (task_object *o = c.pop()) {
    discard_stack(*o);
    cold.objects.push(o);
  }
}

void list_source::check(const std::vector<const local *> &all) {
  const auto &b = pools.bounds();
  long here = 0, fresh = 0;
  for (const local *l : all) {
    const long idle = l->list.count();
    if (idle > b.local)
      fail("task_memory: " + std::to_string(idle) + " idle objects in a scheduler's list");
    here += idle + l->away.count;
    fresh += l->fresh_end - l->fresh;
  }
  const long above = pools.at_nodes() + pools.in_global();
  if (above > nodes * b.node + b.global)
    fail("task_memory: " + std::to_string(above) + " idle objects in the pools");
  if (here + above + fresh + cold.objects.count != first_unused.load())
    fail("task_memory: of " + std::to_string(first_unused.load()) + " objects " + std::to_string(here) +
         " lie in lists, " + std::to_string(above) + " in pools, " + std::to_string(fresh) + " are unused, " +
         std::to_string(cold.objects.count) + " were given back: some are lost");
}

} // namespace bench::task_memory
