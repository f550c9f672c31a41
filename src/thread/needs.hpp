// How much stack roots need, where that is proved: the table that nth_set_stack_needs fills, and the class
// of stack that follows from it (paper 002: stacks as large as the analysis says, and no larger).
#pragma once

#include "memory/stack.hpp"
#include "thread/worker.hpp"

namespace nth::detail {

// The smallest class that this build can use: frames of sanitizers are large, and those of builds that are
// not optimised.
#if defined(NTH_ASAN) || defined(NTH_TSAN)
constexpr unsigned smallest_used_log2 = first_sparse_log2;
#elif defined(NTH_UBSAN) || !defined(NDEBUG)
constexpr unsigned smallest_used_log2 = 12;
#else
constexpr unsigned smallest_used_log2 = smallest_class_log2;
#endif
constexpr unsigned largest_class_log2 = smallest_class_log2 + stack_regions - 1;

// What of flag_class a thread gets that needs so many bytes. -1: no class is large enough. Classes with guard
// pages hold a page and some less than their size.
int class_for_need(long need) noexcept;
// Arguments beyond four are laid out on the thread's stack.
constexpr long for_many_arguments = 2048;
// Sparse stacks begin up to 1 KiB lower (colours), and their guard page is always counted: whether there is
// one depends on the system.
constexpr long lost_of_sparse = static_cast<long>(sizeof(stack_top)) + 4096 + 1024;
constexpr long largest_need = (1L << largest_class_log2) - lost_of_sparse - for_many_arguments;
// The same by the size of the stack.
int class_for_size(long bytes) noexcept;

struct need_entry {
  void (*root)(); // null: free
  long need;
  bool may_block;
  std::uint8_t flags; // flag_class of its threads, for this run
  // What nth-stack says of it (nth_growth_need::flags), and why it has no bound; null where users have said the need.
  std::uint8_t proof{0};
  const char *reason{nullptr};
};
// The need of a root without a bound: on a stack of the default class, and never called in place.
constexpr long no_bound = 1L << 40;

class need_table {
public:
  // Adds entries, or replaces those of the same roots. False: no memory, nothing was changed. Only while
  // the run-time is down.
  bool add(const need_entry *entries, long count) noexcept;
  // The run's default class is known now.
  void choose_classes() noexcept;
  const need_entry *find(void (*root)()) const noexcept;
  // Roots without a bound.
  long unbounded() const noexcept;
  bool empty() const noexcept { return slots == nullptr; }

private:
  void insert(const need_entry &e) noexcept;
  need_entry *slot_of(void (*root)()) const noexcept;

  need_entry *slots{nullptr}; // open addressing, at most half full
  std::size_t mask{0};
  std::size_t used{0};
};

extern need_table the_needs;

// What a creation by w writes into the flags for the sake of the stack; `many`: more than four arguments.
inline std::uint8_t stack_flags_of(worker *w, void (*root)(), bool many) noexcept {
  const need_entry *e = the_needs.find(root);
  if (e == nullptr)
    return 0;
  if (e->need == no_bound) [[unlikely]]
    count_one(w->unbounded);
  if (e->flags == 0 || !many)
    return e->flags;
  return static_cast<std::uint8_t>(class_for_need(e->need + for_many_arguments));
}

} // namespace nth::detail
