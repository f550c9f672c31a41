// What x86_64/setjmp.S asks: where the area is, and the C library's own functions. The program's definitions hide those
// from the linker, not from dlsym.
#include "cluster/jumps.hpp"

#include "base/error.hpp"
#include "memory/area.hpp"

#include <dlfcn.h>

extern "C" {
struct {
  std::uintptr_t begin;
  std::size_t bytes; // 0: none
} nth_jumps_area{0, 0};
void *nth_jumps_sigsetjmp;
void *nth_jumps_siglongjmp;
void *nth_jumps_longjmp_chk;
}

namespace nth::detail::cluster {

#if !defined(NTH_ASAN) && !defined(NTH_TSAN)
namespace {

void *behind(const char *name) noexcept {
  void *function = dlsym(RTLD_NEXT, name);
  if (function == nullptr)
    end_program("the C library has no function that setjmp and longjmp can be left to outside of threads");
  return function;
}

void find_jumps() {
  nth_jumps_sigsetjmp = behind("__sigsetjmp");
  nth_jumps_siglongjmp = behind("siglongjmp");
  nth_jumps_longjmp_chk = behind("__longjmp_chk");
}

// Before all constructors, those of shared libraries too: they may use setjmp.
[[gnu::section(".preinit_array"), gnu::used]] void (*const find_jumps_first)() = find_jumps;

// Pulls setjmp.S into every cluster program: whoever asks for setjmp later finds it there.
extern "C" void nth_jumps_jump();
[[gnu::used]] void (*const jumps_of_the_program)() = nth_jumps_jump;

} // namespace
#endif

void keep_jumps_plain() noexcept { nth_jumps_area = {the_area.base, the_area.size}; }

} // namespace nth::detail::cluster
