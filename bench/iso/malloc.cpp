#include "iso/workload.hpp"

#include <cstdlib>

namespace {
struct source {
  void *allocate(std::size_t size) { return std::malloc(size); }
  void release(void *block) { std::free(block); }
};
} // namespace

int main(int argc, char **argv) { return bench::iso::main("glibc", argc, argv, source{}); }
