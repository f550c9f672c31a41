#include "thread/limits.hpp"

#include "thread/dispatch.hpp"

namespace nth::detail {

constinit limits_table the_limits{};

void open_limits() noexcept {
  the_limits.base = the_area.base;
  the_limits.region_shift = the_area.region_shift;
  the_limits.stacks = std::uintptr_t{stack_regions} << the_area.region_shift;
  the_limits.standard_last = stack_last;
  the_limits.region = the_stacks.region();
  the_limits.most_units = static_cast<std::uint32_t>(the_runtime.stack_most >> smallest_class_log2);
  const bool dos = the_runtime.policy == NTH_POLICY_DOS;
  for (unsigned r = 0; r < stack_regions; ++r) {
    const std::size_t size = std::size_t{1} << (r + smallest_class_log2);
    const bool standard = r == the_stacks.region();
    const std::size_t lowest = the_stacks.guard_size(r) + (standard ? kept_for_nth(size) : 0);
    class_limits &c = the_limits.of[r];
    c.last = size - 1;
    c.depth = size > lowest + sizeof(stack_top) ? size - sizeof(stack_top) - lowest : 0;
    // Under dos a walk over all descriptors looks below each stack_top of the default class.
    c.begin = standard && dos ? sizeof(nth_desc) : 0;
    c.room = c.depth > c.begin ? c.depth - c.begin : 0;
    c.fork_floor = fork_floor(r);
    c.units = static_cast<std::uint32_t>(size >> smallest_class_log2);
    c.region = r;
  }
  if (the_limits.opened != nullptr)
    the_limits.opened();
}

std::uintptr_t *limits_here() noexcept {
  if (the_limits.count == 0)
    return nullptr;
  std::uintptr_t thread_pointer = 0;
  asm("movq %%fs:0, %0" : "=r"(thread_pointer));
  return reinterpret_cast<std::uintptr_t *>(thread_pointer +
                                            static_cast<std::uintptr_t>(the_limits.limits_at));
}

bool asks_for_itself(void (*function)(), std::uintptr_t sp) noexcept {
  constexpr std::uintptr_t for_the_call = NTH_STUB_STACK + 64; // with the caller's own frame
  if (reinterpret_cast<std::uintptr_t>(function) - the_limits.pool >= the_limits.pool_bytes)
    return false;
  const stack_top *top = top_of(sp);
  const std::uintptr_t used = reinterpret_cast<std::uintptr_t>(top) - sp;
  return used + for_the_call <= the_limits.of[region_of_stack(top)].depth;
}

void set_limits(worker *w, std::uintptr_t sp) noexcept {
  stack_top *top = top_of(sp);
  const unsigned r = region_of_stack(top);
  if ((top->segments & segment_retired) != 0 || top->above != nullptr) {
    set_all_limits(w, always_ask);
  } else {
    write_limits(w->limits, reinterpret_cast<std::uintptr_t>(top) - the_limits.of[r].depth);
    w->edge.here = top;
  }
  if (w->special == special_class) {
    w->fork_mask = the_limits.of[r].last;
    w->fork.floor = the_limits.of[r].fork_floor;
  }
}

} // namespace nth::detail
