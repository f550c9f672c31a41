// The tables of the program: what they must be like, and what the run-time takes from them when it starts.
#include "base/error.hpp"
#include "growth/bind.hpp"
#include "growth/program.hpp"
#include "growth/vectors.hpp"
#include "memory/annotate.hpp"
#include "os/os.hpp"
#include "thread/limits.hpp"
#include "thread/needs.hpp"
#include "thread/runtime.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace nth::detail {

extern "C" {
__attribute__((visibility("hidden"))) constinit const nth_growth_header *nth_detail_program = nullptr;
__attribute__((visibility("hidden"))) constinit std::uintptr_t nth_detail_stubs_from_pool = 0;
__attribute__((visibility("hidden"))) constinit std::uintptr_t nth_detail_above_lowest = 0;
__attribute__((visibility("hidden"))) void (*nth_detail_siglongjmp)(sigjmp_buf, int) = nullptr;
}

namespace {

// Of the arguments that a call through a pointer may have: those of a struct by value of a page, and some. A caller's
// frame may be larger; what of it does not fit the segment is not copied.
constexpr std::uint32_t most_entry_arguments = 4096 + NTH_STUB_UNKNOWN_ARGUMENTS;
constexpr long least_need = 8; // a return address
constexpr unsigned with_reason = NTH_NEED_UNBOUNDED | NTH_NEED_GUARDED | NTH_NEED_ASSUMED;

[[noreturn, gnu::format(printf, 1, 2)]] void refuse(const char *format, ...) noexcept {
  char what[300], all[400];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  std::snprintf(all, sizeof all,
                "the program's tables of small stacks: %s; link it with the nth-stack of this library", what);
  end_program(all);
}

// The tables lie anywhere beside the header; that they are there can be told by their order alone.
void check_header(const nth_growth_header &h) noexcept {
  if (std::memcmp(h.magic, NTH_GROWTH_MAGIC, sizeof h.magic) != 0)
    refuse("the mark is not %s", NTH_GROWTH_MAGIC);
  if (h.filled != 1)
    refuse("nth-stack has not filled them (filled is %u)", h.filled);
  if (h.limits < 1 || h.limits > NTH_STUB_LIMITS)
    refuse("%u thresholds, not 1 to %d", h.limits, NTH_STUB_LIMITS);
  for (std::uint32_t i = 0; i < h.limits; ++i) {
    if (h.thresholds[i] < least_need || (i > 0 && h.thresholds[i] <= h.thresholds[i - 1]))
      refuse("threshold %u is %u, below 8 or not above the one before", i, h.thresholds[i]);
  }
  if (h.stubs > h.stub_room || h.needs > h.need_room || h.sites > h.site_room)
    refuse("more entries than room: %u of %u stubs, %u of %u needs, %u of %u sites", h.stubs, h.stub_room,
           h.needs, h.need_room, h.sites, h.site_room);
  const std::int32_t places[] = {h.pool, h.stub_at, h.need_at, h.site_at};
  for (const std::int32_t place : places) {
    if (place % 4 != 0)
      refuse("a table lies at an odd place, %d from the header", place);
  }
  if (reinterpret_cast<std::uintptr_t>(at_place<char>(&h, h.pool)) % NTH_STUB_SIZE != 0)
    refuse("the pool of stubs is not at a multiple of %d", NTH_STUB_SIZE);
}

void check_stubs(const nth_growth_header *program) noexcept {
  const auto *stub = at_place<nth_growth_stub>(program, program->stub_at);
  constexpr std::uint32_t known = NTH_STUB_ENTRY | NTH_STUB_GUARDED | NTH_STUB_LONGJMP | NTH_STUB_BY_SITE |
                                  NTH_STUB_SETCONTEXT | NTH_STUB_SWAPCONTEXT | NTH_STUB_LOADED;
  for (std::uint32_t i = 0; i < program->stubs; ++i) {
    if ((stub[i].flags & ~known) != 0)
      refuse("stub %u has unknown flags, %u", i, stub[i].flags);
    if ((stub[i].flags & (NTH_STUB_SETCONTEXT | NTH_STUB_SWAPCONTEXT)) != 0 &&
        (stub[i].flags & NTH_STUB_LONGJMP) == 0)
      refuse("stub %u is of setcontext or swapcontext, but not of the kind of longjmp (flags %u)", i,
             stub[i].flags);
    if ((stub[i].flags & NTH_STUB_LONGJMP) == 0 && stub[i].need < least_need)
      refuse("stub %u has a need of %u bytes; a call alone takes 8", i, stub[i].need);
    if (stub[i].take < stub[i].need)
      refuse("stub %u takes %u bytes, less than its need of %u", i, stub[i].take, stub[i].need);
  }
}

void check_order(const nth_growth_header *program) noexcept {
  const auto *need = at_place<nth_growth_need>(program, program->need_at);
  const auto *site = at_place<nth_growth_site>(program, program->site_at);
  for (std::uint32_t i = 1; i < program->needs; ++i) {
    if (need[i].function <= need[i - 1].function)
      refuse("need %u is not in order", i);
  }
  for (std::uint32_t i = 0; i < program->needs; ++i) {
    if (need[i].reason >= program->text_room && (need[i].flags & with_reason) != 0)
      refuse("need %u has its reason at %u of %u bytes of text", i, need[i].reason, program->text_room);
  }
  for (std::uint32_t i = 1; i < program->sites; ++i) {
    if (site[i].return_to <= site[i - 1].return_to)
      refuse("site %u is not in order", i);
  }
}

// What a stack of the default class must have room for.
void find_largest(const nth_growth_header *program) noexcept {
  const auto *stub = at_place<nth_growth_stub>(program, program->stub_at);
  const auto *site = at_place<nth_growth_site>(program, program->site_at);
  std::uint32_t deepest = NTH_STUB_UNKNOWN_ARGUMENTS;
  for (std::uint32_t i = 0; i < program->sites; ++i)
    deepest = site[i].depth > deepest ? site[i].depth : deepest;
  deepest = deepest < most_entry_arguments ? deepest : most_entry_arguments;
  for (std::uint32_t i = 0; i < program->stubs; ++i) {
    // What needs more than any stack has is told of when a thread gets there; the program may call it elsewhere.
    const bool hopeless = (stub[i].flags & NTH_STUB_GUARDED) != 0 && stub[i].need > largest_need;
    if ((stub[i].flags & NTH_STUB_LONGJMP) != 0 || hopeless)
      continue;
    const std::uint32_t arguments = (stub[i].flags & NTH_STUB_BY_SITE) != 0 ? deepest : stub[i].arguments;
    const std::size_t all = std::size_t{stub[i].take} + arguments + for_alignment;
    if (all > the_limits.largest) {
      the_limits.largest = all;
      the_limits.largest_need = stub[i].need;
      the_limits.largest_callee = at_place<char>(program, stub[i].target);
    }
  }
}

quick_stub *the_quick_stubs;

// Of stubs with a guard page: more than a stack of a class that has none holds, so that enter.S goes on, or to a
// segment, on the default class alone.
std::uintptr_t with_guard(std::uintptr_t bytes) noexcept {
  const std::uintptr_t without = the_limits.region > 0 ? the_limits.of[the_limits.region - 1].room : 0;
  return bytes > without ? bytes : without + 1;
}

// The classes of this run are known.
void fill_quick_stubs() noexcept {
  const nth_growth_header *program = nth_detail_program;
  const auto *stub = at_place<nth_growth_stub>(program, program->stub_at);
  for (std::uint32_t i = 0; i < program->stubs; ++i) {
    const nth_growth_stub &s = stub[i];
    const bool always_slow = (s.flags & NTH_STUB_LONGJMP) != 0;
    const bool copies = s.arguments != 0 || (s.flags & NTH_STUB_BY_SITE) != 0;
    const bool guarded = (s.flags & NTH_STUB_GUARDED) != 0;
    const std::uintptr_t room = s.need - least_need;
    const std::uintptr_t bytes = std::uintptr_t{s.take} + for_alignment;
    the_quick_stubs[i].target = at_place<char>(program, s.target);
    the_quick_stubs[i].room = always_slow ? never_quick : guarded ? with_guard(room) : room;
    the_quick_stubs[i].bytes = always_slow || copies ? never_quick : guarded ? with_guard(bytes) : bytes;
  }
}

void make_quick_stubs(const nth_growth_header *program) noexcept {
  const std::size_t bytes = (std::size_t{program->stubs} + 1) * sizeof(quick_stub);
  auto *quick = static_cast<quick_stub *>(os::map_pages(bytes));
  if (quick == nullptr)
    refuse("no memory for %u stubs", program->stubs);
  the_quick_stubs = quick;
  the_limits.opened = fill_quick_stubs;
  nth_detail_program = program;
  nth_detail_stubs_from_pool = reinterpret_cast<std::uintptr_t>(quick) -
                               reinterpret_cast<std::uintptr_t>(at_place<char>(program, program->pool));
}

void add_needs(const nth_growth_header *program) noexcept {
  const auto *need = at_place<nth_growth_need>(program, program->need_at);
  const char *text = at_place<char>(program, program->text_at);
  for (std::uint32_t i = 0; i < program->needs; ++i) {
    const nth_growth_need &n = need[i];
    const bool bounded = (n.flags & NTH_NEED_UNBOUNDED) == 0 && n.need <= largest_need;
    const char *reason = (n.flags & with_reason) != 0 ? text + n.reason
                         : bounded                    ? nullptr
                                                      : "it needs more than the largest stack has room for";
    const std::uint8_t proof = static_cast<std::uint8_t>(
        (n.flags & 0xff) | (bounded ? 0U : static_cast<unsigned>(NTH_NEED_UNBOUNDED)));
    const long bytes = n.need > least_need ? static_cast<long>(n.need) : least_need;
    const need_entry e = {
        reinterpret_cast<void (*)()>(reinterpret_cast<std::uintptr_t>(at_place<char>(program, n.function))),
        bounded ? bytes : no_bound,
        !bounded || (n.flags & NTH_NEED_BLOCKS) != 0,
        0,
        proof,
        reason};
    if (!the_needs.add(&e, 1))
      refuse("no memory for %u needs", program->needs);
  }
}

} // namespace

extern "C" NTH_API void nth_growth_register(const nth_growth_header *program, long limits) {
  if (annotate::on)
    refuse("this library is instrumented by a sanitizer, whose frames no need counts");
  if (the_runtime.up.load(std::memory_order_acquire))
    refuse("nth_init was called before the constructors of the program");
  if (the_limits.count != 0)
    refuse("there are two of them");
  check_header(*program);
  check_stubs(program);
  check_order(program);
  if (!find_vectors())
    refuse("the vector registers of this processor take more than %u bytes", vector_state::most);
  find_largest(program);
  make_quick_stubs(program);
  add_needs(program);
  for (std::uint32_t i = 0; i < program->limits; ++i)
    the_limits.above_lowest[i] = program->thresholds[i] - 8;
  nth_detail_above_lowest = the_limits.above_lowest[0];
  the_limits.largest_callee = function_behind(the_limits.largest_callee);
  note_program(program);
  the_limits.limits_at = limits;
  the_limits.pool = reinterpret_cast<std::uintptr_t>(at_place<char>(program, program->pool));
  the_limits.pool_bytes = std::uintptr_t{program->stubs} * NTH_STUB_SIZE;
  the_limits.count = program->limits;
  nth_detail_siglongjmp = &siglongjmp; // in code: the address in data would lead to a stub of it
  bind_libraries();
}

} // namespace nth::detail
