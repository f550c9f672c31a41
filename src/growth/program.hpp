// The tables of the program, as nth-stack has written them (nth/growth.h).
#pragma once

#include "nth/growth.h"

#include <csetjmp>
#include <cstddef>
#include <cstdint>

namespace nth::detail {

template <class T>
[[gnu::always_inline]] inline const T *at_place(const nth_growth_header *program,
                                                std::int32_t place) noexcept {
  return reinterpret_cast<const T *>(reinterpret_cast<const char *>(program) + place);
}

// What a message is to name: behind a stub, or a jump through a word of the program, the function that they lead to.
const void *function_behind(const void *code) noexcept;

// For nth_growth_dlsym.
void note_program(const nth_growth_header *program) noexcept;

// The stub that a return address lies in. (An address is told from another in unsigned arithmetic.)
[[gnu::always_inline]] inline const nth_growth_stub &stub_of(const nth_growth_header *program,
                                                             std::uintptr_t return_to) noexcept {
  const auto first = reinterpret_cast<std::uintptr_t>(at_place<char>(program, program->pool));
  return at_place<nth_growth_stub>(program, program->stub_at)[(return_to - first) / NTH_STUB_SIZE];
}

// Bytes that a caller's frame has above its call, by return address; what nobody knows: NTH_STUB_UNKNOWN_ARGUMENTS.
inline std::uint32_t depth_at(const nth_growth_header *program, std::uintptr_t return_to) noexcept {
  const auto *site = at_place<nth_growth_site>(program, program->site_at);
  const auto wanted = static_cast<std::intptr_t>(return_to - reinterpret_cast<std::uintptr_t>(program));
  std::uint32_t low = 0;
  for (std::uint32_t high = program->sites; low < high;) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (site[middle].return_to < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  return low < program->sites && site[low].return_to == wanted ? site[low].depth : NTH_STUB_UNKNOWN_ARGUMENTS;
}

// __morestack lies behind the pool: what it called has its arguments up to the end of the segment.
inline bool is_of_morestack(const nth_growth_header *program, std::uintptr_t return_to) noexcept {
  constexpr std::uintptr_t code_behind = 1024;
  const auto pool = reinterpret_cast<std::uintptr_t>(at_place<char>(program, program->pool));
  return return_to - pool < std::uintptr_t{program->stub_room} * NTH_STUB_SIZE + code_behind;
}

// A stub as nth_growth_enter reads it (x86_64/enter.S), one at the place of each slot of the pool.
struct quick_stub {
  const void *target;
  std::uintptr_t room;  // so many bytes below rsp, beside the return address, are enough without a switch
  std::uintptr_t bytes; // for the frames on a segment, with what alignment takes
  std::uintptr_t unused;
};
static_assert(sizeof(quick_stub) == NTH_STUB_SIZE);
// In both for stubs that are enter.cpp's alone: more than there is, and no class of segments has it.
constexpr std::uintptr_t never_quick = ~std::uintptr_t{0};
constexpr std::uint32_t for_alignment = 64; // of arguments on the stack: at most so many bytes are lost

extern "C" {
// longjmp, with what it leaves marked (enter.cpp); in programs that are not static.
[[noreturn]] void nth_growth_longjmp(std::uint64_t *buffer, int value) noexcept;
extern void (*nth_detail_siglongjmp)(sigjmp_buf buffer, int value); // the C library's
extern const nth_growth_header *nth_detail_program;                 // that is registered
extern std::uintptr_t nth_detail_stubs_from_pool;                   // the quick_stubs, less the pool
extern std::uintptr_t nth_detail_above_lowest;                      // of the first limit
}

} // namespace nth::detail
