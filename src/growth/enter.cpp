// Onto a segment and back, where x86_64/enter.S does not do it. Compiled for general registers alone: the caller of a stub may have live
// values in any vector register, and code of other files is called with these kept only (test/growth/registers.sh).
//
// A thread's stacks form a chain, `above` upwards and `next` downwards. Whoever runs on one of them has left all above
// it: by return, which nth_growth_leave settles at once, or by exception or longjmp, which set the limits so that the
// next stub settles it. So a dead segment stays until rsp is elsewhere.
#include "arch/jump_tag.h"
#include "growth/frame.hpp"
#include "growth/program.hpp"
#include "growth/refuse.hpp"
#include "growth/vectors.hpp"
#include "thread/dispatch.hpp"
#include "thread/needs.hpp"
#include "thread/roomy.hpp"

#include <ucontext.h>

namespace nth::detail {

namespace {

// A stack of the area. Little is kept of it: registers are few, and so are the bytes below them.
struct place {
  stack_top *top;
  const class_limits *c;
  place(stack_top *t, const class_limits *of) noexcept : top(t), c(of) {}
  explicit place(std::uintptr_t sp) noexcept
      : c(&the_limits.of[(sp - the_limits.base) >> (the_limits.region_shift & 63)]) {
    top = reinterpret_cast<stack_top *>((sp | c->last) + 1) - 1;
  }
  std::uintptr_t lowest() const noexcept { return reinterpret_cast<std::uintptr_t>(top) - c->depth; }
  bool retired() const noexcept { return (top->segments & segment_retired) != 0; }
};

// Not on the loop's stack, where a thread with a small one has called the library.
bool on_own_stack(const worker *w, std::uintptr_t sp) noexcept {
  return sp - the_limits.base < the_limits.stacks &&
         (w->special != special_class ||
          (sp ^ reinterpret_cast<std::uintptr_t>(w->loop_sp)) > the_limits.standard_last);
}

[[gnu::always_inline]] inline void set_live_limits(worker *w, place p) noexcept {
  write_limits(w->limits, p.lowest());
  w->edge.here = p.top;
  if (w->special == special_class) {
    w->fork_mask = p.c->last;
    w->fork.floor = p.c->fork_floor;
  }
}

void set_limits_at(worker *w, place p) noexcept {
  set_live_limits(w, p);
  if (p.retired()) [[unlikely]]
    set_all_limits(w, always_ask);
}

// The region of the smallest class, from `r` on, that has so much room; stack_regions: none has.
unsigned region_with(unsigned r, std::size_t bytes) noexcept {
  while (r < stack_regions && the_limits.of[r].room < bytes)
    ++r;
  return r;
}

// What is asked of a segment: `good` bytes, and the call is refused without `enough`, for nothing of the arguments may
// be left out.
struct demand {
  std::size_t good;
  std::size_t enough;
};

// Which class the segment is of; stack_regions: none is large enough. Further segments of one thread double, so that a
// deep recursion is on few of them.
unsigned region_for(const worker *w, place from, std::uint32_t flags, demand d) noexcept {
  const unsigned standard = the_limits.region;
  if (w->special != special_class)
    return d.enough <= the_limits.of[standard].room ? standard : stack_regions;
  unsigned r = (flags & NTH_STUB_GUARDED) != 0 ? standard : stack_region(smallest_used_log2);
  if (from.top->segments != 0 && r <= from.c->region)
    r = from.c->region < standard ? from.c->region + 1 : standard;
  const unsigned good = region_with(r, d.good);
  return good < stack_regions ? good : region_with(r, d.enough);
}

// The segment that was left last, where it is large enough, and not eight times too large: what the doubling of
// classes may have made it, and some.
bool fits_kept(const worker *w, place kept, std::uint32_t flags, demand d) noexcept {
  const std::size_t bytes = d.good;
  if (w->special != special_class)
    return kept.c->region == the_limits.region && d.enough <= kept.c->room;
  return bytes <= kept.c->room && bytes > kept.c->room >> 3 &&
         ((flags & NTH_STUB_GUARDED) == 0 || kept.c->region >= the_limits.region);
}

// Null: no memory, or, where the library may not be called, empty lists.
template <bool Roomy>
stack_top *take_from_lists(worker *w, unsigned r) noexcept {
  if (r >= stack_regions)
    return nullptr;
  if (Roomy)
    return take_stack(w, r);
  stack_top *top = w->stacks[r].pop();
  if (top != nullptr)
    ++w->stacks_used[r];
  return top;
}

// Bytes above the return address that go along: no more than the stack has.
[[gnu::noinline]] std::size_t some_arguments(const nth_growth_header *program, const growth_frame *f,
                                             const nth_growth_stub &s, const stack_top *top) noexcept {
  std::size_t bytes = (s.flags & NTH_STUB_BY_SITE) != 0 ? depth_at(program, f->return_to) : s.arguments;
  const std::size_t there =
      reinterpret_cast<std::uintptr_t>(top) - reinterpret_cast<std::uintptr_t>(f->arguments());
  // By a jump of a function that was called on this segment.
  if ((s.flags & NTH_STUB_BY_SITE) != 0 && is_of_morestack(program, f->return_to))
    return there & ~std::size_t{7};
  bytes = (bytes + 7) & ~std::size_t{7};
  return bytes < there ? bytes : there;
}

[[gnu::always_inline]] inline std::size_t arguments_of(const nth_growth_header *program,
                                                       const growth_frame *f, const nth_growth_stub &s,
                                                       place from) noexcept {
  if ((s.flags & NTH_STUB_BY_SITE) == 0 && s.arguments == 0) [[likely]]
    return 0;
  return some_arguments(program, f, s, from.top);
}

// The copy begins as far from a multiple of 64, the largest alignment that an argument on the stack can have, as the
// arguments do.
[[gnu::noinline]] char *lay_arguments(char *end, const growth_frame *f, std::size_t bytes) noexcept {
  char *to = end - bytes;
  to -= (reinterpret_cast<std::uintptr_t>(to) - reinterpret_cast<std::uintptr_t>(f->arguments())) & 63;
  char *out = to;
  const std::uint64_t *in = f->arguments();
  std::size_t words = bytes / 8;
  asm volatile("rep movsq" : "+D"(out), "+S"(in), "+c"(words) : : "memory");
  return to;
}

// glibc's jmp_buf: rsp is word 6, kept with the thread's guard; in a program of several ranks it is plain.
std::uintptr_t target_of_longjmp(const std::uint64_t *buffer) noexcept {
  std::uint64_t sp = buffer[6];
  if ((static_cast<std::uint32_t>(buffer[8]) & ~std::uint32_t{1}) == NTH_JUMP_TAG)
    return sp;
  asm("rorq $17, %0\n\txorq %%fs:48, %0" : "+r"(sp));
  return sp;
}

// Where a target of the kind of longjmp goes.
std::uintptr_t jump_of(const growth_frame *f, std::uint32_t flags) noexcept {
  if ((flags & (NTH_STUB_SETCONTEXT | NTH_STUB_SWAPCONTEXT)) == 0)
    return target_of_longjmp(reinterpret_cast<const std::uint64_t *>(f->rdi));
  const auto *to = reinterpret_cast<const ucontext_t *>((flags & NTH_STUB_SETCONTEXT) != 0 ? f->rdi : f->rsi);
  return static_cast<std::uintptr_t>(to->uc_mcontext.gregs[REG_RSP]);
}

// A jump to a frame on `to`: what lies above it is dead, and the jump may be made from there.
[[gnu::noinline]] void leave_by_longjmp(worker *w, std::uintptr_t from, std::uintptr_t to) noexcept {
  if (!on_own_stack(w, to)) {
    if (on_own_stack(w, from))
      set_all_limits(w, always_ask);
    return;
  }
  const place target(to);
  if (target.top->above == nullptr && on_own_stack(w, from) && place(from).top == target.top)
    return;
  for (stack_top *s = target.top->above; s != nullptr; s = s->above) {
    s->segments |= segment_retired;
    if (s == w->edge.kept) // out of a signal handler, which has interrupted a switch
      w->edge.kept = nullptr;
  }
  set_all_limits(w, always_ask);
}

// From here on `on` is the stack above.
[[gnu::always_inline]] inline void put_above(worker *w, const growth_frame *f, place here,
                                             place on) noexcept {
  const std::uint32_t all = (here.top->segments & ~segment_retired) + on.c->units;
  if (all > w->edge.most_segments) [[unlikely]] {
    if (all > the_limits.most_units)
      too_many_segments(w, f, here.top);
    w->edge.most_segments = all;
  }
  on.top->thread = here.top->thread;
  on.top->next = here.top;
  on.top->segments = all;
  here.top->above = on.top;
  set_live_limits(w, on);
}

// Where the callee is to be called on a segment, or null: on the stack that it is called on. Roomy: the library may be
// called; else `later` is the answer where it would have to be, and nothing was changed.
template <bool Roomy>
[[gnu::always_inline]] inline void *enter_segment(const nth_growth_header *program, growth_frame *f,
                                                  worker *w, const nth_growth_stub &s, void *later) noexcept {
  const place here(reinterpret_cast<std::uintptr_t>(&f->return_to));
  if (here.top->above != nullptr) [[unlikely]] {
    if (!Roomy)
      return later;
    release_segments(w, here.top);
  }
  const bool will_do = (s.flags & NTH_STUB_GUARDED) == 0 || here.c->region >= the_limits.region;
  if (will_do && reinterpret_cast<std::uintptr_t>(f->arguments()) >= here.lowest() + s.need) {
    if (w->limits[0] == always_ask)
      set_limits_at(w, here);
    return nullptr;
  }
  const std::size_t arguments = arguments_of(program, f, s, here);
  const demand bytes{s.take + arguments + for_alignment, s.need + arguments + for_alignment};
  place on = here;
  if (w->edge.kept != nullptr)
    on = place(reinterpret_cast<std::uintptr_t>(w->edge.kept));
  if (w->edge.kept != nullptr && fits_kept(w, on, s.flags, bytes)) {
    w->edge.kept = nullptr;
    ++w->edge.hits;
  } else {
    const unsigned r = region_for(w, here, s.flags, bytes);
    on = place(take_from_lists<Roomy>(w, r), &the_limits.of[r]);
    if (on.top == nullptr) [[unlikely]] {
      if (!Roomy)
        return later;
      no_segment(w, f, s, r, bytes.enough);
    }
    ++w->segments_taken;
  }
  put_above(w, f, here, on);
  char *const end = reinterpret_cast<char *>(on.top) - on.c->begin;
  if (arguments == 0)
    return end -
           ((reinterpret_cast<std::uintptr_t>(end) - reinterpret_cast<std::uintptr_t>(f->arguments())) & 15);
  return lay_arguments(end, f, arguments);
}

[[gnu::always_inline]] inline void note_bounds(edge_of_stack::bounds &to, place p) noexcept {
  write_limits(to.limits, p.lowest());
  to.fork_mask = p.c->last;
  to.fork_floor = p.c->fork_floor;
}

// The library, and users, may use any register: all are kept around the calls, and there is room for them.

struct enter_call {
  const nth_growth_header *program;
  growth_frame *f;
  void *answer;
};

[[gnu::noinline]] void enter_keeping_vectors(enter_call *c) noexcept {
  vector_state all;
  save_vectors(all);
  c->answer = enter_segment<true>(c->program, c->f, current_worker(), stub_of(c->program, c->f->stub_return),
                                  nullptr);
  restore_vectors(all);
}

[[gnu::noinline]] void *enter_roomy(const nth_growth_header *program, growth_frame *f) noexcept {
  enter_call c{program, f, nullptr};
  roomy(current_worker(), [&c] { enter_keeping_vectors(&c); });
  return c.answer;
}

[[gnu::noinline]] void give_keeping_vectors(stack_top *beneath, stack_top *segment) noexcept {
  vector_state all;
  save_vectors(all);
  release_segments(current_worker(), beneath);
  if (segment != nullptr)
    give_stack(current_worker(), segment);
  restore_vectors(all);
}

[[gnu::noinline]] void give_roomy(stack_top *beneath, stack_top *segment) noexcept {
  roomy(current_worker(), [=] { give_keeping_vectors(beneath, segment); });
}

} // namespace

extern "C" [[gnu::flatten]] void *nth_detail_enter(const nth_growth_header *program, void *rbp) noexcept {
  growth_frame *f = growth_frame::of(rbp);
  worker *w = current_worker();
  const nth_growth_stub &s = stub_of(program, f->stub_return);
  f->target = at_place<char>(program, s.target);
  if (w->limits == nullptr) // a kernel thread that is no worker
    return nullptr;
  const auto sp = reinterpret_cast<std::uintptr_t>(&f->return_to);
  if ((s.flags & NTH_STUB_LONGJMP) != 0) [[unlikely]] {
    leave_by_longjmp(w, sp, jump_of(f, s.flags));
    // The kinds of longjmp differ in name alone, but for the checked one: it lets nobody jump to a lower address.
    if ((s.flags & (NTH_STUB_SETCONTEXT | NTH_STUB_SWAPCONTEXT)) == 0 && on_own_stack(w, sp))
      f->target = reinterpret_cast<const void *>(nth_detail_siglongjmp);
    return nullptr;
  }
  if (!on_own_stack(w, sp))
    return nullptr;
  void *const answer = enter_segment<false>(program, f, w, s, f);
  if (answer == f) [[unlikely]]
    return enter_roomy(program, f);
  return answer;
}

extern "C" [[gnu::visibility("hidden")]] void nth_growth_longjmp(std::uint64_t *buffer, int value) noexcept {
  worker *w = current_worker();
  if (w->limits != nullptr)
    leave_by_longjmp(w, stack_pointer(), target_of_longjmp(buffer));
  nth_detail_siglongjmp(reinterpret_cast<sigjmp_buf &>(*buffer), value);
  __builtin_unreachable();
}

// What enter.S needs for the same switch again, after nth_detail_enter, when that has left the stack. Handlers of signals
// do not come here; one that jumps out leaves an edge of no stack. A stack of the default class has segments of that
// class alone, whose thread may have no others, so any callee that fits may have one.
extern "C" [[gnu::flatten]] void nth_detail_note_edge(const void *answer, void *rbp) noexcept {
  worker *w = current_worker();
  edge_of_stack &e = w->edge;
  if (e.here == nullptr || !on_own_stack(w, reinterpret_cast<std::uintptr_t>(rbp)))
    return;
  const place here(reinterpret_cast<std::uintptr_t>(e.here));
  if (answer == nullptr &&
      (e.under == here.top || e.segment == here.top)) // a loop may be about to switch back
    return;
  stack_top *const beneath = answer == nullptr ? here.top : here.top->next;
  if (e.last != beneath) { // a deep recursion passes the ends of many stacks, each once
    e.last = beneath;
    return;
  }
  const place under(reinterpret_cast<std::uintptr_t>(beneath));
  const bool standard = under.c->region == the_limits.region;
  e.under = e.segment = &no_stack;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  e.under_lowest = under.lowest();
  e.under_bytes = under.c->depth;
  note_bounds(e.of_under, under);
  e.least = standard ? 0 : (here.c->room >> 3) + 1;
  e.span = here.c->room - e.least;
  e.begin = reinterpret_cast<std::uintptr_t>(here.top) - here.c->begin;
  e.units = here.c->units;
  note_bounds(e.of_segment, here);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  e.under = under.top;
  if (answer != nullptr && (!standard || here.c->region == the_limits.region))
    e.segment = here.top;
}

extern "C" [[gnu::flatten]] void nth_detail_leave() noexcept {
  worker *w = current_worker();
  const place here(stack_pointer());
  stack_top *const segment = here.top->above;
  here.top->above = nullptr;
  segment->segments = 0;
  stack_top *const before = w->edge.kept;
  // The larger of two neighbouring classes is kept: a loop whose calls pass the ends of two stacks in each turn passes
  // one in the next. A much larger one would do for no call of that loop.
  const bool other = before != nullptr && segment->above == nullptr &&
                     region_of_stack(before) == region_of_stack(segment) + 1;
  stack_top *const spare = other ? segment : before;
  w->edge.kept = other ? before : segment;
  set_limits_at(w, here);
  if (spare == nullptr && segment->above == nullptr)
    return;
  if (spare != nullptr)
    spare->segments = 0; // a signal handler may have jumped out of a switch to it
  const unsigned r = spare != nullptr ? region_of_stack(spare) : 0;
  if (spare != nullptr && segment->above == nullptr && w->stacks_away == nullptr &&
      w->stacks[r].push(spare, the_stacks.half(r))) {
    --w->stacks_used[r];
    return;
  }
  give_roomy(segment, spare);
}

} // namespace nth::detail
