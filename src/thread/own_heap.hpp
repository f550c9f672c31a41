// The heap of a thread: where its nth_isomalloc takes blocks from. A thread that never asks has none, and costs
// nothing for it. Once it has one, its descriptor leads there through the spill blocks of its successors
// (create.hpp, kept_words), and its stack's top holds it at hand:
//
//   descriptor --flag_many--> spill: | 1 + heap | successor | heap |      stack_top: | … | heap | … | thread |
//
// The word in stack_top shares its place with a link of lists, from which its lowest bit tells it, and is believed when the
// heap's owner is the thread that runs there. It is cleared where the heap ends, for the slot may hold anything then, and
// on a further stack of the thread (c_api/spawn.cpp) where that is left.
#pragma once

#include "iso/chunk.hpp"
#include "thread/worker.hpp"

#include <atomic>

namespace nth::detail {

// Where the slots are, for who has none of them yet: they may be opened while others run. Published when all is ready.
struct open_area {
  std::atomic<std::uintptr_t> begin{0}; // 0: not open
  std::uintptr_t bytes{0};
  bool holds(std::uintptr_t address) const noexcept {
    const std::uintptr_t b =
        begin.load(std::memory_order_acquire); // `bytes`, and the owner of a heap, come after
    return b != 0 && address - b < bytes;
  }
};
extern open_area slots_in_use;

// What stack_top holds: no link of a list is odd.
inline std::uintptr_t hint_of(const iso::heap *h) noexcept { return reinterpret_cast<std::uintptr_t>(h) + 1; }
// At hand, for the thread d that runs on the stack of `top`; null: look further.
inline iso::heap *heap_at_hand(const stack_top *top, const nth_desc *d) noexcept {
  const std::uintptr_t hint = top->heap;
  if ((hint & 1) == 0)
    return nullptr;
  auto *h = reinterpret_cast<iso::heap *>(hint - 1);
  return h->owner == d ? h : nullptr;
}

iso::heap *own_heap(const nth_desc *d) noexcept; // by its descriptor; null: it has none
// Makes one for the running thread. Null: `why`.
iso::heap *make_own_heap(worker *w, nth_desc *d, bool may_suspend, iso::heap_error &why) noexcept;
// The thread d has ended, on the stack that is left or on that of the scheduler's loop: its heap ends, if it has one. The
// private part is not entered.
void give_up_heap(worker *w, nth_desc *d) noexcept;

// The rank's own: of kernel threads outside. Held while the scope lives.
class rank_heap_scope {
public:
  rank_heap_scope() noexcept;
  ~rank_heap_scope() noexcept;
  rank_heap_scope(const rank_heap_scope &) = delete;
  rank_heap_scope &operator=(const rank_heap_scope &) = delete;
  iso::heap *get() const noexcept; // null: none yet
  iso::heap *make(iso::heap_error &why) noexcept;
};

// The area of slots: reserved when the first block is asked for, or by cluster/ at the start. False: no memory.
bool open_slots() noexcept;
void close_slots() noexcept;                                          // at the end of the run
void set_slots(const iso::slot_setting &wanted, bool check) noexcept; // what open_slots will do; at the start

} // namespace nth::detail
