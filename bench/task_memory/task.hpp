// The objects of the run-time system of paper 001 that come and go with a task: the descriptor (task_t), the
// context and the stack. A source of memory (malloc_source.hpp, list_source.hpp) hands out the three.
#ifndef NTH_BENCH_TASK_MEMORY_TASK_HPP
#define NTH_BENCH_TASK_MEMORY_TASK_HPP

#include <atomic>
#include <concepts>
#include <cstddef>

namespace bench::task_memory {

inline constexpr std::size_t stack_bytes = 16 * 1024;

// What is kept of a task that does not run: switch.hpp. The registers lie on its stack.
struct context_t {
  void *at;    // the stack pointer
  char *stack; // the lowest address
  std::size_t stack_size;
};

struct scheduler_t;

struct task_t {
  void (*root)(task_t &self);
  long argument;
  long *result; // on the parent's stack, which waits there
  task_t *parent;
  context_t *context;
  scheduler_t *on;             // that runs it, set by whoever lets it run
  std::atomic<int> unfinished; // children that sync() still waits for
};
static_assert(sizeof(task_t) <= 64);

// Where task memory comes from; everything else of the run-time system is one code for all sources. `local` is
// what belongs to one scheduler. take() returns a task whose context has its stack; the task may be given
// back to another scheduler's `local` than it came from.
template <class M>
concept memory_source = requires(M m, typename M::local l, task_t *t) {
  { m.enter(l) } -> std::same_as<void>; // called by the kernel thread that will use l, before it does
  { m.leave(l) } -> std::same_as<void>; // when it is done with it
  { m.take(l) } -> std::same_as<task_t *>;
  { m.give_back(l, t) } -> std::same_as<void>;
};

} // namespace bench::task_memory

#endif
