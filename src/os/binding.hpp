// How the calls of a program into shared libraries are bound.
#pragma once

namespace nth::detail::os {

// Whether the object that holds `code` may call the dynamic linker at the first call of each function: that
// takes some kilobytes of the caller's stack. False for objects linked with -z now, static programs, and
// under LD_BIND_NOW.
bool binds_lazily(const void *code) noexcept;

} // namespace nth::detail::os
