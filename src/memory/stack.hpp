// Stacks, and where they wait. One stack, of 2^n bytes at a multiple of 2^n:
//
//   bottom                                                              top - 64            top
//   |guard page|  … free …  <- rsp  frames of the loop and of the thread | stack_top: thread |
//
// The top word holds the thread that runs on the stack now: from any rsp within, `rsp | (2^n - 1)`
// leads to it (paper 000, section 3). Stacks wait in a list of each worker; past a bound half of it goes
// to the common pool, and there a worker looks before it carves a new one.
#pragma once

#include "base/spinlock.hpp"
#include "memory/area.hpp"

#include <cstddef>
#include <cstdint>

struct nth_desc;

namespace nth::detail {

struct alignas(64) stack_top {
  stack_top *next;  // while it waits in a list
  void *fiber;      // ThreadSanitizer's view of this stack
  void *fake_stack; // AddressSanitizer's
  std::uintptr_t valgrind_id;
  std::uintptr_t unused[3];
  nth_desc *thread; // who runs here; null: the scheduler's loop
};
static_assert(sizeof(stack_top) == 64 && offsetof(stack_top, thread) == 56);

// The top of the stack that `sp` points into; sp must lie in a stack region.
inline stack_top *top_of(std::uintptr_t sp) noexcept {
  const std::uintptr_t last = (std::uintptr_t{1} << (the_area.region_of(sp) + smallest_class_log2)) - 1;
  return reinterpret_cast<stack_top *>((sp | last) + 1) - 1;
}
// Size - 1 of the run's stacks: what top_of finds from the address bits, for those who know that rsp lies
// on a stack of the area.
extern std::uintptr_t stack_last;

inline bool on_stack(std::uintptr_t sp) noexcept {
  return the_area.holds(sp) && the_area.region_of(sp) < stack_regions;
}
inline std::size_t stack_size_of(const stack_top *top) noexcept {
  return std::size_t{1} << (the_area.region_of(reinterpret_cast<std::uintptr_t>(top)) + smallest_class_log2);
}
inline std::uintptr_t stack_bottom(const stack_top *top) noexcept {
  return reinterpret_cast<std::uintptr_t>(top + 1) - stack_size_of(top);
}

struct stack_list {
  stack_top *head{nullptr};
  long count{0};
  void push(stack_top *top) noexcept {
    top->next = head;
    head = top;
    ++count;
  }
  stack_top *pop() noexcept {
    stack_top *top = head;
    if (top != nullptr) {
      head = top->next;
      --count;
    }
    return top;
  }
};

// What all workers share: stacks past the bound of their lists, and how new ones are made.
class stack_pool {
public:
  // Stacks of 2^size_log2 bytes; `guarded`: with a guard page, if a method is found that works.
  bool open(unsigned size_log2, bool guarded) noexcept;
  void close() noexcept; // when no stack is in use

  // Paper 000, section 5: the stacks that are counted before the run, at once. False: no memory.
  bool prepare(int home, long count, stack_list &into) noexcept;
  stack_top *take(int home) noexcept; // a pooled one, else a new one; nullptr: no memory
  void put(stack_top *top) noexcept;
  // Moves half of a list that has grown past the bound.
  void trim(stack_list &list) noexcept;
  // A new stack that its caller keeps for good (policy dos: one a descriptor).
  stack_top *carve(int home) noexcept;

  std::size_t size() const noexcept { return std::size_t{1} << log2; }
  unsigned region() const noexcept { return stack_region(log2); }
  std::size_t guard_size() const noexcept;
  long allocated() noexcept;
  long unguarded() noexcept;

  static constexpr long list_bound = 64;

private:
  void dress(stack_top *top) noexcept;

  unsigned log2{0};
  std::uint8_t method{0};
  spinlock lock;
  stack_list pooled;
  long made{0};
  long bare{0};
};

extern stack_pool the_stacks;

} // namespace nth::detail
