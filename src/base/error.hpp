// How the library speaks of what went wrong. User mistakes are caught in every build: `fail` for calls that
// return a status, `misuse` for those that return nothing. Internal invariants are NTH_ASSERT, in debug
// builds.
#pragma once

#include "nth/nth.h"

namespace nth::detail {

// Formats (printf), keeps the text for nth_last_error, and returns `status`: for calls that return one.
[[gnu::format(printf, 2, 3), gnu::cold]] nth_status fail(nth_status status, const char *format, ...) noexcept;

// The same, then tells the error handler: for calls that return void. Returns when the handler does.
[[gnu::format(printf, 2, 3), gnu::cold]] void misuse(nth_status status, const char *format, ...) noexcept;

// Prints "nth: " and the message, and aborts.
[[noreturn, gnu::cold]] void end_program(const char *message) noexcept;

// Prints "nth: internal error: …" and aborts.
[[noreturn, gnu::cold]] void assertion_failed(const char *what, const char *file, int line) noexcept;

// The name of a function for a message: symbol+offset by dladdr, else its address. Writes at most `size`
// bytes with the final zero to `buffer` and returns it.
const char *describe_function(const void *address, char *buffer, unsigned long size) noexcept;

} // namespace nth::detail

#ifdef NTH_DEBUG
#define NTH_ASSERT(condition)                                                                                \
  ((condition) ? static_cast<void>(0) : ::nth::detail::assertion_failed(#condition, __FILE__, __LINE__))
#else
#define NTH_ASSERT(condition) static_cast<void>(0)
#endif
