// Stacks, and where they wait. One stack, of 2^n bytes at a multiple of 2^n:
//
//   bottom                                                    colour      top - 64            top
//   |guard page|  … free …  <- rsp  frames of the loop and thread |  …  | stack_top: thread |
//
// The top word holds the thread that runs on the stack now: from any rsp within, `rsp | (2^n - 1)`
// leads to it (paper 000, section 3). Classes are the powers of two from 256 bytes to 1 MiB; each has free
// lists of its own. Stacks below 16 KiB have no guard page: they are for roots whose need is proved.
#pragma once

#include "arch/worker_offsets.h"
#include "memory/area.hpp"
#include "memory/free_list.hpp"

#include <cstddef>
#include <cstdint>

struct nth_desc;

namespace nth::detail {

// Smaller ones are for proved needs alone.
constexpr std::size_t least_unproved_stack = std::size_t{1} << first_sparse_log2;

struct alignas(64) stack_top {
  stack_top *next; // while it waits in a list; of a segment in use: the stack beneath
  union {
    stack_top *next_chain; // and if it is the first of a chain in a pool
    std::uintptr_t
        heap; // in use, a hint: 1 + the heap of the thread that runs here (thread/own_heap.hpp); or a left-over
  };
  void *fiber;      // ThreadSanitizer's view of this stack
  void *fake_stack; // AddressSanitizer's
  std::uintptr_t valgrind_id;
  std::uint32_t chain_count;
  // In programs with small stacks (growth/). A segment is a stack that a thread has taken beside its first one.
  std::uint32_t
      segments; // bytes / 256 of it and of the segments beneath it, and segment_retired; 0: no segment in use
  stack_top
      *above; // the segment that was taken from here, dead or alive; null for stacks that are not in use
  nth_desc *thread; // who runs here; null: the scheduler's loop
};
static_assert(sizeof(stack_top) == 64 && offsetof(stack_top, thread) == 56);
static_assert(offsetof(stack_top, next) == NTH_STACK_NEXT &&
                  offsetof(stack_top, segments) == NTH_STACK_SEGMENTS &&
                  offsetof(stack_top, above) == NTH_STACK_ABOVE &&
                  offsetof(stack_top, thread) == NTH_STACK_THREAD,
              "growth/x86_64/enter.S knows them by worker_offsets.h");
extern stack_top no_stack; // for comparisons: no thread is on it

// No frame on it is returned to any more, but an unwinder, or longjmp, may still run there.
constexpr std::uint32_t segment_retired = 0x8000'0000;

// The top of the stack that `sp` points into; sp must lie in a stack region.
inline stack_top *top_of(std::uintptr_t sp) noexcept {
  const std::uintptr_t last = (std::uintptr_t{1} << (the_area.region_of(sp) + smallest_class_log2)) - 1;
  return reinterpret_cast<stack_top *>((sp | last) + 1) - 1;
}
// Size - 1 of the run's default stacks: what top_of finds from the address bits, for those who know that
// rsp lies on a stack of that class.
extern std::uintptr_t stack_last;

inline bool on_stack(std::uintptr_t sp) noexcept {
  return the_area.holds(sp) && the_area.region_of(sp) < stack_regions;
}
inline unsigned region_of_stack(const stack_top *top) noexcept {
  return the_area.region_of(reinterpret_cast<std::uintptr_t>(top));
}
inline std::size_t stack_size_of(const stack_top *top) noexcept {
  return std::size_t{1} << (region_of_stack(top) + smallest_class_log2);
}
inline std::uintptr_t stack_bottom(const stack_top *top) noexcept {
  return reinterpret_cast<std::uintptr_t>(top + 1) - stack_size_of(top);
}

// Where frames begin. The tops of sparse stacks lie at the same place of their pages, so the lines that
// blocked threads are woken from would share few sets of the caches: 16 colours spread them over 1 KiB.
inline void *first_frame(stack_top *top) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(top);
  const unsigned r = the_area.region_of(address);
  if (r < stack_region(first_sparse_log2))
    return top;
  const std::uintptr_t colour = address >> (r + smallest_class_log2) & 15;
  return reinterpret_cast<void *>(address - colour * 64);
}

using stack_list = local_list<stack_top>;

// How stacks of all classes are made, and what all workers share of them.
class stack_memory {
public:
  // The run's default class, 2^size_log2 bytes; `guarded`: stacks of 16 KiB and more have a guard page, if a
  // method is found that works. `bounds`: of idle stacks of a class; of those below a page as many times more
  // as a page holds.
  bool open(unsigned size_log2, bool guarded, thresholds bounds, int nodes, int workers) noexcept;
  void close() noexcept; // when no stack is in use

  // Paper 000, section 5: the stacks that are counted before the run, at once. False: no memory.
  bool prepare(int home, long count, stack_list &into) noexcept;
  // A stack for an empty list: from the pools, else new. Further ones may come to lie in the list.
  stack_top *refill(unsigned r, int home, stack_list &list) noexcept; // nullptr: no memory
  // Half of a list at its bound moves up.
  void lift(unsigned r, stack_list &list, int node) noexcept { of[r].pools.put(list.take_reserve(), node); }
  void put(unsigned r, chain<stack_top> c, int node) noexcept { of[r].pools.put(c, node); }
  // A new stack of the default class that its caller keeps (policy dos: one a descriptor).
  stack_top *carve(int home, content &holds) noexcept;
  void give_back(stack_top *top, part::last_look look) noexcept; // what carve gave
  void give_back(chain<stack_top> c) noexcept;                   // to the kernel

  std::size_t size() const noexcept { return std::size_t{1} << log2; }
  unsigned region() const noexcept { return stack_region(log2); }
  std::uint32_t half(unsigned r) const noexcept { return of[r].pools.half(); }
  std::size_t guard_size(unsigned r) const noexcept;
  std::size_t guard_size() const noexcept { return guard_size(region()); }

  struct numbers {
    long allocated; // carved and not given back
    long most;      // so many there were at one time
    long at_nodes;
    long in_global;
  };
  numbers count(unsigned r) noexcept;
  long allocated() noexcept; // of all classes
  long most() noexcept;
  long unguarded() noexcept;
  free_pools<stack_top, most_nodes> &pools(unsigned r) noexcept { return of[r].pools; }

private:
  struct stack_class {
    free_pools<stack_top, most_nodes> pools;
    long made{0}; // carved and not given back
    long most{0};
  };
  void dress(stack_top *top, content holds) noexcept;
  void count_made(unsigned r, long n) noexcept;
  char *carve_some(unsigned r, int home, std::size_t &count, content &holds) noexcept;

  unsigned log2{0};
  std::uint8_t method{0};
  long bare{0};
  stack_class of[stack_regions];
};

extern stack_memory the_stacks;

} // namespace nth::detail
