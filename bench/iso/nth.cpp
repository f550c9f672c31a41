// The heap of a thread itself, without the C interface that finds it.
#include "iso/workload.hpp"

#include "iso/heap.hpp"

#include <cstdio>

namespace {
namespace layer = nth::detail::iso;

struct source {
  layer::heap *mine;
  void *allocate(std::size_t size) {
    layer::heap_error why{};
    return layer::allocate(mine, size, 16, false, why);
  }
  void release(void *block) { (void)layer::release(mine, block); }
};
} // namespace

int main(int argc, char **argv) {
  layer::slot_setting setting;
  setting.bytes = std::size_t{1} << 40;
  layer::heap_error why{};
  if (!layer::the_slots.open(setting) || !layer::open_heaps())
    return std::fputs("no area\n", stderr), 1;
  return bench::iso::main("nth", argc, argv, source{layer::make_heap(nullptr, false, why)});
}
