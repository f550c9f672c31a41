#include "code/noreturn.hpp"

#include <algorithm>
#include <array>

namespace nth::stack {
namespace {

using namespace std::string_view_literals;

constexpr std::array jumps = std::to_array<std::string_view>({
    "_Unwind_Resume"sv,
    "____longjmp_chk"sv,
    "__libc_longjmp"sv,
    "__libc_siglongjmp"sv,
    "__longjmp"sv,
    "__longjmp_cancel"sv,
    "__longjmp_chk"sv,
    "_longjmp"sv,
    "longjmp"sv,
    "siglongjmp"sv,
});

constexpr std::array imports = std::to_array<std::string_view>({
    "_Exit"sv,
    "_ZSt9terminatev"sv,
    "_ZSt10unexpectedv"sv,
    "_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE"sv,
    "__assert"sv,
    "__assert_fail"sv,
    "__assert_perror_fail"sv,
    "__chk_fail"sv,
    "__cxa_bad_cast"sv,
    "__cxa_bad_typeid"sv,
    "__cxa_call_terminate"sv,
    "__cxa_call_unexpected"sv,
    "__cxa_deleted_virtual"sv,
    "__cxa_pure_virtual"sv,
    "__cxa_rethrow"sv,
    "__cxa_throw"sv,
    "__cxa_throw_bad_array_length"sv,
    "__cxa_throw_bad_array_new_length"sv,
    "__fortify_fail"sv,
    "__libc_fatal"sv,
    "__pthread_unwind_next"sv,
    "__stack_chk_fail"sv,
    "__stack_chk_fail_local"sv,
    "_exit"sv,
    "_gfortran_error_stop_numeric"sv,
    "_gfortran_error_stop_string"sv,
    "_gfortran_exit_i4"sv,
    "_gfortran_exit_i8"sv,
    "_gfortran_os_error"sv,
    "_gfortran_os_error_at"sv,
    "_gfortran_runtime_error"sv,
    "_gfortran_runtime_error_at"sv,
    "_gfortran_stop_numeric"sv,
    "_gfortran_stop_string"sv,
    "abort"sv,
    "err"sv,
    "errx"sv,
    "exit"sv,
    "pthread_exit"sv,
    "quick_exit"sv,
    "rust_begin_unwind"sv,
    "rust_panic"sv,
    "thrd_exit"sv,
    "verr"sv,
    "verrx"sv,
});

constexpr std::array twice = std::to_array<std::string_view>({
    "__getcontext"sv,
    "__sigsetjmp"sv,
    "__vfork"sv,
    "_setjmp"sv,
    "getcontext"sv,
    "setjmp"sv,
    "sigsetjmp"sv,
    "vfork"sv,
});

constexpr std::array probes = std::to_array<std::string_view>({
    "___chkstk_ms"sv,
    "__chkstk"sv,
    "__rust_probestack"sv,
});

template <std::size_t N>
bool has(const std::array<std::string_view, N> &names, std::string_view name) noexcept {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// std::__throw_length_error(char const*) and all others of libstdc++ and libc++.
bool throws(std::string_view name) noexcept {
  return name.starts_with("_ZSt") && name.find("__throw_") != std::string_view::npos &&
         name.find("__throw_") < 8;
}

// core::panicking::…, core::result::unwrap_failed, alloc::alloc::handle_alloc_error and their like.
bool panics(std::string_view name) noexcept {
  if (!name.starts_with("_ZN4core") && !name.starts_with("_ZN5alloc") && !name.starts_with("_ZN3std"))
    return false;
  static constexpr std::array words = std::to_array<std::string_view>(
      {"9panicking5panic"sv, "9panicking9panic_fmt"sv, "9panicking18panic_bounds_check"sv,
       "9panicking13assert_failed"sv, "13unwrap_failed"sv, "13expect_failed"sv,
       "26slice_start_index_len_fail"sv, "24slice_end_index_len_fail"sv, "22slice_index_order_fail"sv,
       "16slice_error_fail"sv, "18handle_alloc_error"sv, "17capacity_overflow"sv,
       "9panicking11begin_panic"sv});
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view w) { return name.find(w) != std::string_view::npos; });
}

} // namespace

bool leaves_by_jump(std::string_view symbol) noexcept { return has(jumps, symbol); }
bool returns_twice(std::string_view symbol) noexcept { return has(twice, symbol); }
bool probes_stack(std::string_view symbol) noexcept { return has(probes, symbol); }

bool never_returns(std::string_view symbol) noexcept {
  return has(imports, symbol) || leaves_by_jump(symbol) || throws(symbol) || panics(symbol);
}

} // namespace nth::stack
