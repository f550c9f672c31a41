// What a program and its libraries were linked with: how calls into shared libraries are bound, whether code may lie on
// stacks.
#pragma once

namespace nth::detail::os {

// Whether the object that holds `code` may call the dynamic linker at the first call of each function: that
// takes some kilobytes of the caller's stack. False for objects linked with -z now, static programs, and
// under LD_BIND_NOW.
bool binds_lazily(const void *code) noexcept;

// Whether any object of the process wants code on stacks to run, as compilers put it there for pointers to internal
// procedures (Fortran) and nested functions.
bool wants_code_on_stacks() noexcept;

} // namespace nth::detail::os
