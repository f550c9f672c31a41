// Threads on stacks of a few hundred bytes, and what they leave.
#pragma once

#include "../support/runtime.hpp"
#include "subjects.hpp"

#include "memory/stack.hpp"
#include "thread/limits.hpp"
#include "thread/needs.hpp"

namespace nth::test {

// Builds with large frames have no stacks of less than 4 KiB.
constexpr bool has_small_stacks = nth::detail::smallest_used_log2 == nth::detail::smallest_class_log2;

inline nth_stats stats_now() {
  nth_stats result = {};
  EXPECT_EQ(nth_get_stats(&result), NTH_OK) << nth_last_error();
  return result;
}

// Runs root(words…) on a stack that has room for `need` bytes, as the child of a thread that waits for it.
template <class Root, class... Words>
void run_small(long need, Root root, Words... words) {
  run([&] {
    nth_depadd(nth_self(), 2);
    nth_desc *small =
        nth_create_ls(reinterpret_cast<void (*)()>(root), 0, nth_self(), sizeof...(words), words...);
    ASSERT_EQ(nth_set_stack_need(small, need), NTH_OK) << nth_last_error();
    nth_to_lrq(0, small);
    nth_block();
  });
}

// Idle workers have given back what they kept: all stacks in use are those that the loops stand on.
inline void expect_no_segments(long workers) {
  nth_stats s = {};
  for (int tries = 0; tries < 2000; ++tries) {
    s = stats_now();
    long in_use = 0;
    for (const nth_object_stats &one : s.stacks)
      in_use += one.in_use;
    if (nth_stack_policy() != NTH_POLICY_DOS && in_use <= workers)
      return;
    if (nth_stack_policy() == NTH_POLICY_DOS && in_use <= workers + s.descriptors.allocated)
      return;
    usleep(1000);
  }
  for (const nth_object_stats &one : s.stacks)
    EXPECT_EQ(one.in_use, 0) << one.bytes << " bytes each, " << workers << " workers";
}

// function(), with that rsp at its entry.
inline std::uintptr_t answer_at(std::uintptr_t rsp, std::uintptr_t (*function)()) {
  return call_at(rsp, reinterpret_cast<void (*)()>(function), nullptr);
}

// function(argument) on this stack, with `room` bytes below its entry for the program.
template <class T>
void call_with_room(long room, void (*function)(T *), T *argument);

// Of the class that has room for so many bytes; builds with large frames have no small ones.
inline long size_for(long need) {
  long size = 1L << detail::smallest_used_log2;
  while (size - static_cast<long>(sizeof(detail::stack_top)) < need)
    size *= 2;
  return size;
}

inline std::uintptr_t lowest_byte(const detail::stack_top *top) {
  return reinterpret_cast<std::uintptr_t>(top) - detail::the_limits.of[detail::region_of_stack(top)].depth;
}

template <class T>
void call_with_room(long room, void (*function)(T *), T *argument) {
  // A function is entered 8 below a multiple of 16.
  const std::uintptr_t rsp =
      (lowest_byte(detail::top_of(here())) + static_cast<std::uintptr_t>(room)) & ~15UL;
  call_at(rsp - 8, reinterpret_cast<void (*)()>(function), argument);
}

} // namespace nth::test
