// Other allocators in malloc's place, by the dynamic linker (LD_PRELOAD), so that it is the same binary.
#ifndef NTH_BENCH_TASK_MEMORY_PRELOAD_HPP
#define NTH_BENCH_TASK_MEMORY_PRELOAD_HPP

#include "common/harness.hpp"

#include <string>

namespace bench::task_memory {

// The name behind `--allocator`, "malloc" without it. Starts the program over when that allocator has to be
// preloaded first, and ends it when malloc is not that allocator's then.
std::string preload(int argc, char **argv);

// For --help; preload() has read it already.
void add_option(program &p);

} // namespace bench::task_memory

#endif
