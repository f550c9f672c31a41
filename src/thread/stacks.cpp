// Stacks of a worker: from its lists, and back to them.
#include "thread/dispatch.hpp"

namespace nth::detail {

namespace {

// A signal handler that has jumped out of a switch to it may have left its count.
bool give_kept(worker *w) noexcept {
  stack_top *const kept = w->edge.kept;
  if (kept == nullptr)
    return false;
  w->edge.kept = nullptr;
  kept->segments = 0;
  give_stack(w, kept);
  return true;
}

// What small stacks keep for later: the segment that was left last, and those above this stack that an exception or
// longjmp has left. True: something was given back.
[[gnu::noinline]] bool give_back_segments(worker *w) noexcept {
  const auto sp = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  stack_top *const here = on_stack(sp) ? top_of(sp) : nullptr;
  const bool above = here != nullptr && here->above != nullptr;
  const bool kept = give_kept(w);
  if (above)
    release_segments(w, here);
  return above || kept;
}

} // namespace

stack_top *take_stack(worker *w, unsigned r) noexcept {
  ++w->stacks_used[r];
  if (stack_top *top = w->stacks[r].pop()) {
    // The next one's lines: its top, and where its first frame and the context of a blocked thread will be.
    if (const stack_top *behind = w->stacks[r].peek()) {
      __builtin_prefetch(behind, 1);
      __builtin_prefetch(behind - 1, 1);
      __builtin_prefetch(behind - 2, 1);
    }
    return top;
  }
  stack_top *top = the_stacks.refill(r, w->home, w->stacks[r]);
  if (top != nullptr)
    return top;
  --w->stacks_used[r];
  return give_back_segments(w) ? take_stack(w, r) : nullptr;
}

stack_top *take_stack(worker *w) noexcept {
  // The loop stack that was dropped last is free by now: its worker has gone on elsewhere.
  if (stack_top *top = w->dropped) {
    w->dropped = nullptr;
    return top;
  }
  return take_stack(w, the_stacks.region());
}

void give_stack(worker *w, stack_top *stack) noexcept {
  const unsigned r = region_of_stack(stack);
  if (stack->above != nullptr) [[unlikely]]
    release_segments(w, stack);
  --w->stacks_used[r];
  if (w->stacks_away != nullptr) [[unlikely]] {
    const int node = the_area.node_of(stack);
    if (node != w->node) {
      chain<stack_top> &away = w->stacks_away[static_cast<unsigned>(node) * stack_regions + r];
      away.push(stack);
      if (away.count == chain_length || away.count == the_stacks.half(r))
        the_stacks.put(r, away.take(), node);
      return;
    }
  }
  while (!w->stacks[r].push(stack, the_stacks.half(r)))
    [[unlikely]] the_stacks.lift(r, w->stacks[r], w->node);
}

void send_stacks(worker *w) noexcept {
  if (w->dropped != nullptr) {
    give_stack(w, w->dropped);
    w->dropped = nullptr;
  }
  give_kept(w);
  const unsigned r = the_stacks.region();
  // Few go one by one: whoever needs one takes one, and no further worker has to make one meanwhile.
  constexpr long few = 8;
  while (w->stacks[r].count() != 0 && w->stacks[r].count() <= few) {
    chain<stack_top> one;
    one.push(w->stacks[r].pop());
    the_stacks.put(r, one, w->node);
  }
  the_stacks.put(r, w->stacks[r].take_reserve(), w->node);
  the_stacks.put(r, w->stacks[r].take_current(), w->node);
  for (int node = 0; w->stacks_away != nullptr && node < the_area.nodes; ++node) {
    for (unsigned k = 0; k < stack_regions; ++k)
      the_stacks.put(k, w->stacks_away[static_cast<unsigned>(node) * stack_regions + k].take(), node);
  }
}

void release_segments(worker *w, stack_top *beneath) noexcept {
  stack_top *s = beneath->above;
  beneath->above = nullptr;
  while (s != nullptr) {
    stack_top *const next = s->above;
    s->above = nullptr;
    s->segments = 0;
    give_stack(w, s);
    s = next;
  }
}

std::uintptr_t fork_floor(unsigned r) noexcept {
  const std::size_t size = std::size_t{1} << (r + smallest_class_log2);
  return size < least_unproved_stack ? ~std::uintptr_t{0} : size / 2 + the_stacks.guard_size(r);
}

void bound_forks(worker *w, unsigned of_class) noexcept {
  const unsigned r = of_class == 0 ? the_stacks.region() : of_class - 1;
  w->fork_mask = (std::uintptr_t{1} << (r + smallest_class_log2)) - 1;
  w->fork.floor = fork_floor(r);
}

} // namespace nth::detail
