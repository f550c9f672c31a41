// How low rsp may be where a function is called through a stub, in programs with small stacks (nth/growth.h): the
// limits of the stack that the running thread is on, in thread-local words of the program. Whoever changes stacks
// calls follow_stack: one predicted test in other programs.
//
//   bottom                lowest                                                 stack_top
//   |guard page | kept, on the default class |  free for the program: `room`  | (dos: a descriptor) |
//                                            |<- threshold_i ->|
//                                                              ^ limit_i + 8
#pragma once

#include "nth/growth.h"
#include "thread/worker.hpp"

namespace nth::detail {

// By class of stacks, for this run. From its stack_top downwards.
struct alignas(64) class_limits {
  std::uintptr_t last;       // size - 1
  std::uintptr_t depth;      // down to the lowest byte that the program may use
  std::uintptr_t begin;      // down to where the frames of a segment begin
  std::uintptr_t room;       // between these two
  std::uintptr_t fork_floor; // nth_fork::floor
  std::uint32_t units;       // size / 256
  std::uint32_t region;
};
static_assert(sizeof(class_limits) == 64);

// Read at each switch; what is of others is kept here once more, side by side.
struct limits_table {
  std::uintptr_t above_lowest[NTH_STUB_LIMITS]; // thresholds - 8
  std::uintptr_t base;                          // of the_area
  std::uintptr_t stacks;                        // bytes of it that are stacks
  std::uintptr_t standard_last;                 // stack_last
  std::uint32_t region_shift;                   // of the_area
  std::uint32_t region;                         // of the default class
  class_limits of[stack_regions];
  unsigned count;      // of thresholds; 0: the program has no stubs
  long limits_at;      // nth_stack_limits, from the thread pointer
  std::size_t largest; // need and arguments: what a stack of the default class must have room for
  std::uint32_t largest_need;
  const void *largest_callee;
  std::uintptr_t pool; // of stubs, and
  std::uintptr_t pool_bytes;
  std::uint32_t most_units; // of segments that one thread may have
  void (*opened)();         // told when the classes of a run are known
};
extern limits_table the_limits __attribute__((visibility("hidden")));

// On the default class the lowest eighth and a page are kept for what nth itself does on the stack of a thread.
constexpr std::size_t kept_for_nth(std::size_t size) noexcept { return size / 8 + 4096; }
// Of a class of 2^log2 bytes as the default one, with a guard page.
constexpr std::size_t room_of_default(unsigned log2) noexcept {
  const std::size_t size = std::size_t{1} << log2;
  return size - kept_for_nth(size) - 4096 - sizeof(stack_top) - sizeof(nth_desc);
}

void open_limits() noexcept; // the_stacks are open
std::uintptr_t fork_floor(unsigned r) noexcept;
std::uintptr_t *limits_here() noexcept; // of this kernel thread, or null

// Set by one who runs on a stack where stubs must ask: its limits are then set, or it has ended.
constexpr std::uintptr_t always_ask = ~std::uintptr_t{0};

inline void set_all_limits(worker *w, std::uintptr_t value) noexcept {
  w->edge.here = nullptr;
  static_assert(NTH_STUB_LIMITS == 4); // no loop, of which a compiler would make a call
  w->limits[0] = w->limits[1] = w->limits[2] = w->limits[3] = value;
}
inline void clear_limits(worker *w) noexcept {
  if (w->limits != nullptr)
    set_all_limits(w, 0);
}

// Those of a stack with this lowest byte; of thresholds that are not in use too. Always in line: growth/enter.cpp may
// use general registers alone.
[[gnu::always_inline]] inline void write_limits(std::uintptr_t *limits, std::uintptr_t lowest) noexcept {
  limits[0] = lowest + the_limits.above_lowest[0];
  limits[1] = lowest + the_limits.above_lowest[1];
  limits[2] = lowest + the_limits.above_lowest[2];
  limits[3] = lowest + the_limits.above_lowest[3];
}

// Whether function(…) may be called where rsp is `sp`, on a stack of the area, whatever it needs: it is a stub, which
// asks for itself, and has what that takes.
bool asks_for_itself(void (*function)(), std::uintptr_t sp) noexcept;

// The running thread goes on at sp, on a stack of the area.
void set_limits(worker *w, std::uintptr_t sp) noexcept;

inline void follow_stack(worker *w, const void *sp) noexcept {
  if (w->limits != nullptr) [[unlikely]]
    set_limits(w, reinterpret_cast<std::uintptr_t>(sp));
}

} // namespace nth::detail
