#include "task_memory/list_source.hpp"
#include "task_memory/measure.hpp"

int main(int argc, char **argv) {
  namespace task_memory = bench::task_memory;
  bench::program p(task_memory::name, "lists", task_memory::default_n);
  // A scheduler holds two tasks a level of the recursion: those of the largest fib fit into its list.
  nth::detail::thresholds bounds{64, 1024, 1024};
  p.option("--local", bounds.local, "idle objects in a scheduler's list, at most");
  p.option("--node", bounds.node, "idle objects in a NUMA node's pool, at most");
  p.option("--global", bounds.global, "idle objects in the global pool, at most");
  const auto &o = p.parse(argc, argv);
  if (bounds.local < 2 || bounds.node < 0 || bounds.global < 0)
    bench::fail("task_memory: --local is 2 or more, --node and --global 0 or more");

  {
    task_memory::list_source memory(static_cast<int>(o.workers), bounds);
    task_memory::measure_runtime(p, o, memory, [&](const auto &locals) { memory.check(locals); });
  }
  for (const long held : {1L, 32L, 1024L}) {
    task_memory::list_source memory(static_cast<int>(o.workers), bounds);
    task_memory::measure_memory(p, o, memory, held);
  }
}
