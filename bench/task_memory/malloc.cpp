#include "task_memory/malloc_source.hpp"
#include "task_memory/measure.hpp"
#include "task_memory/preload.hpp"

namespace {

namespace task_memory = bench::task_memory;

template <class Source>
void measure(const bench::program &p, const bench::settings &o) {
  Source memory;
  task_memory::measure_runtime(p, o, memory, [](const auto & /*locals*/) {});
  for (const long held : {1L, 32L, 1024L})
    task_memory::measure_memory(p, o, memory, held);
}

} // namespace

int main(int argc, char **argv) {
  // Before anything else: it may start the program over.
  const std::string allocator = task_memory::preload(argc, argv);
  long calls = 3;
  bench::program p(task_memory::name, allocator, task_memory::default_n);
  task_memory::add_option(p);
  p.option("--calls", calls, "of malloc a task: 3, or 1 for descriptor, context and stack together");
  const auto &o = p.parse(argc, argv);
  if (calls == 3)
    measure<task_memory::malloc_source>(p, o);
  else if (calls == 1)
    measure<task_memory::malloc_once_source>(p, o);
  else
    bench::fail("task_memory: --calls is 1 or 3");
}
