#include "iso/workload.hpp"

#include <mimalloc.h>

namespace {
struct source {
  void *allocate(std::size_t size) { return mi_malloc(size); }
  void release(void *block) { mi_free(block); }
};
} // namespace

int main(int argc, char **argv) { return bench::iso::main("mimalloc", argc, argv, source{}); }
