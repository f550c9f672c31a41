// The naive source of paper 001, section 1.4: three calls of malloc for each task, three of free at its end.
#ifndef NTH_BENCH_TASK_MEMORY_MALLOC_SOURCE_HPP
#define NTH_BENCH_TASK_MEMORY_MALLOC_SOURCE_HPP

#include "common/harness.hpp"
#include "task_memory/task.hpp"

#include <cstdlib>
#include <new>

namespace bench::task_memory {

class malloc_source {
public:
  struct local {};

  void enter(local & /*unused*/) {}
  void leave(local & /*unused*/) {}

  task_t *take(local & /*unused*/) {
    void *descriptor = std::malloc(sizeof(task_t));
    void *context = std::malloc(sizeof(context_t));
    void *stack = std::malloc(stack_bytes);
    if (descriptor == nullptr || context == nullptr || stack == nullptr)
      fail("task_memory: malloc has no memory for a task");
    auto *t = new (descriptor) task_t;
    t->context = new (context) context_t{nullptr, static_cast<char *>(stack), stack_bytes};
    return t;
  }

  void give_back(local & /*unused*/, task_t *t) {
    std::free(t->context->stack);
    std::free(t->context);
    std::free(t);
  }
};

// The same memory by one call: what of a source's cost is due to there being three.
class malloc_once_source {
public:
  struct local {};

  void enter(local & /*unused*/) {}
  void leave(local & /*unused*/) {}

  task_t *take(local & /*unused*/) {
    void *memory = std::malloc(sizeof(whole));
    if (memory == nullptr)
      fail("task_memory: malloc has no memory for a task");
    auto *w = new (memory) whole;
    w->context = {nullptr, static_cast<char *>(w->stack), stack_bytes};
    w->task.context = &w->context;
    return &w->task;
  }

  void give_back(local & /*unused*/, task_t *t) { std::free(t); }

private:
  struct whole { // the descriptor first: what take() returns is what free() wants
    task_t task;
    context_t context;
    char stack[stack_bytes];
  };
};

} // namespace bench::task_memory

#endif
