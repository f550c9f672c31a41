// setjmp and longjmp of the program, x86_64/setjmp.S: a jmp_buf that is filled on a stack of the area means the same on
// all ranks.
#pragma once

namespace nth::detail::cluster {

void keep_jumps_plain() noexcept; // from now on; the area is open

} // namespace nth::detail::cluster
