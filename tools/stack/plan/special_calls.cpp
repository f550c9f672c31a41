#include "plan/special_calls.hpp"

#include "nth/growth.h"

#include <algorithm>
#include <array>

namespace nth::stack {

namespace {

struct entry {
  std::string_view name;
  special_call call;
};

constexpr special_call never = {true, 0, {}};
constexpr special_call jumps = {false, NTH_STUB_LONGJMP, {}};
constexpr special_call in_place_by(std::string_view name) { return {false, 0, name}; }

constexpr std::array<entry, 35> special = {{
    {"setjmp", never},
    {"_setjmp", never},
    {"__setjmp", never},
    {"sigsetjmp", never},
    {"__sigsetjmp", never},
    {"__sigjmp_save", never},
    {"vfork", never},
    {"__vfork", never},
    {"__libc_vfork", never},
    {"getcontext", never},
    {"__getcontext", never},
    {"uw_init_context_1", never}, // the unwinder's own: it reads the registers that its caller has
    {"longjmp", jumps},
    {"_longjmp", jumps},
    {"__libc_longjmp", jumps},
    {"siglongjmp", jumps},
    {"__libc_siglongjmp", jumps},
    {"__longjmp_chk", jumps},
    {"____longjmp_chk", jumps},
    {"setcontext", {false, NTH_STUB_LONGJMP | NTH_STUB_SETCONTEXT, {}}},
    {"__setcontext", {false, NTH_STUB_LONGJMP | NTH_STUB_SETCONTEXT, {}}},
    {"swapcontext", {false, NTH_STUB_LONGJMP | NTH_STUB_SWAPCONTEXT, {}}},
    {"__swapcontext", {false, NTH_STUB_LONGJMP | NTH_STUB_SWAPCONTEXT, {}}},
    {"sigaction", in_place_by("nth_call_sigaction")},
    {"__sigaction", in_place_by("nth_call_sigaction")},
    {"signal", in_place_by("nth_call_signal")},
    {"ssignal", in_place_by("nth_call_signal")},
    {"bsd_signal", in_place_by("nth_call_signal")},
    {"__bsd_signal", in_place_by("nth_call_signal")},
    {"sysv_signal", in_place_by("nth_call_sysv_signal")},
    {"__sysv_signal", in_place_by("nth_call_sysv_signal")},
    {"sigset", in_place_by("nth_call_sigset")},
    {"dlsym", in_place_by("nth_call_dlsym")},
    {"__dlsym", in_place_by("nth_call_dlsym")},
    {"___dlsym", in_place_by("nth_call_dlsym")},
}};

const special_call *named(std::string_view name) noexcept {
  const auto *found =
      std::find_if(special.begin(), special.end(), [&](const entry &e) { return e.name == name; });
  return found == special.end() ? nullptr : &found->call;
}

} // namespace

special_call special_call_of(const call_node &callee) noexcept {
  if (const special_call *call = named(callee.symbol))
    return *call;
  for (const std::string &alias : callee.aliases)
    if (const special_call *call = named(alias))
      return *call;
  return {};
}

bool jumps_by_itself(const module &library) {
  return library.shared && !library.name.starts_with("libnth") &&
         std::any_of(library.symbols.begin(), library.symbols.end(), [](const symbol &s) {
           const special_call *call = s.defined ? nullptr : named(s.name);
           return call != nullptr && (call->flags & (NTH_STUB_SETCONTEXT | NTH_STUB_SWAPCONTEXT)) != 0;
         });
}

} // namespace nth::stack
