#include "patch/pool.hpp"

#include "nth/growth.h"
#include "patch/morestack_text.hpp"

#include <fmt/format.h>

namespace nth::stack {

namespace {

// A blank stub has its final comparison, so that the linker tells where the limits lie from the thread pointer.
constexpr std::string_view stubs_text = R"(
        .section .nth_stubs, "ax", @progbits
        .p2align 5
        .type   nth_stub_pool, @function
nth_stub_pool:
        .cfi_startproc
        .rept   {stubs}
        cmpq    %fs:nth_stack_limits@tpoff, %rsp
        .p2align 5, 0xcc
        .endr
        .cfi_endproc
        .size   nth_stub_pool, . - nth_stub_pool
)";

constexpr std::string_view tables_text = R"(
        .section .nth_growth, "a", @progbits
        .p2align 3
        .type   nth_growth_program, @object
nth_growth_program:
        .ascii  "{magic}"
        .long   0, 0                    /* filled, limits */
        .zero   {thresholds}
        .long   0, {stubs}, 0, {needs}, 0, {sites}, {text}
        .long   nth_stub_pool - nth_growth_program
        .long   .Lnth_growth_stubs - nth_growth_program
        .long   .Lnth_growth_needs - nth_growth_program
        .long   .Lnth_growth_sites - nth_growth_program
        .long   .Lnth_growth_text - nth_growth_program
.Lnth_growth_stubs:
        .zero   {stub_bytes}
.Lnth_growth_needs:
        .zero   {need_bytes}
.Lnth_growth_sites:
        .zero   {site_bytes}
.Lnth_growth_text:
        .zero   {text}
        .size   nth_growth_program, . - nth_growth_program
)";

template <typename T>
std::uint64_t bytes_of(std::uint32_t count) {
  return std::uint64_t{count} * sizeof(T);
}

} // namespace

std::string pool_source(const pool_room &room, std::string_view morestack) {
  std::string text = fmt::format(fmt::runtime(stubs_text), fmt::arg("stubs", room.stubs));
  text +=
      fmt::format(fmt::runtime(tables_text), fmt::arg("magic", NTH_GROWTH_MAGIC),
                  fmt::arg("thresholds", sizeof(nth_growth_header::thresholds)),
                  fmt::arg("stubs", room.stubs), fmt::arg("needs", room.needs), fmt::arg("sites", room.sites),
                  fmt::arg("text", room.text), fmt::arg("stub_bytes", bytes_of<nth_growth_stub>(room.stubs)),
                  fmt::arg("need_bytes", bytes_of<nth_growth_need>(room.needs)),
                  fmt::arg("site_bytes", bytes_of<nth_growth_site>(room.sites)));
  text += '\n';
  text += morestack;
  return text;
}

std::string pool_source(const pool_room &room) { return pool_source(room, morestack_text); }

} // namespace nth::stack
