/* The stubs of the tests here; their targets are in subjects.cpp and machine.S. */
#include "pool.inc"

        POOL    512, 1024, 4096, 20000
        STUB    stub_here, here, 0, 512
        STUB    stub_less, here, 1, 608
        STUB    stub_here_large, here, 2, 4000
        STUB    stub_registers, registers_target, 0, 512
        STUB    stub_paint, here, 0, 512
        STUB    stub_down, down, 0, 400
        STUB    stub_self, self_down, 1, 900
        STUB    stub_weigh, weigh, 1, 1000, 520
        STUB    stub_weigh_entry, weigh, 1, 1000, 0, BY_SITE
        STUB    stub_page, page, 3, 14000, 4096
        STUB    stub_wide, wide, 1, 600, 64
        STUB    stub_throw, throw_it, 3, 18000
        STUB    stub_through, through, 3, 18000
        STUB    stub_jump, jump, 2, 4000
        STUB    stub_walk, walk, 3, 19000
        STUB    stub_wait, wait_on_segment, 2, 1500
        STUB    stub_guarded, here, 3, 1000, 0, GUARDED
        STUB    stub_noexcept, through_noexcept, 3, 18000
        STUB    stub_busy, through_busy, 3, 18000
        STUB    stub_compare, compare_longs, 2, 4000, 0, ENTRY
        STUB    stub_far, far, 3, 8000, 0, BY_SITE
        STUB    stub_fib, fib_forked, 1, 700, 0, ENTRY
        STUB    stub_endless, endless, 3, 400, 0, GUARDED
        STUB_LONGJMP stub_longjmp, to_longjmp
        STUB_LONGJMP stub_siglongjmp, to_siglongjmp
        STUB_LONGJMP stub__longjmp, to__longjmp
        STUB_LONGJMP stub___longjmp_chk, to___longjmp_chk
        STUB_LONGJMP stub_setcontext, to_setcontext, SETCONTEXT
        STUB_LONGJMP stub_swapcontext, to_swapcontext, SWAPCONTEXT
        STUB_LONGJMP stub_slow_setcontext, slow_setcontext, SETCONTEXT
        SITE    words_return, 512
        SITE    far_return, 16000
        NEED    small_root, 1700, BLOCKS
        NEED    large_root, 40000, BLOCKS
        NEED    assumed_root, 900, ASSUMED
        NEED    loose_root, 0, UNBOUNDED
        NEED    guarded_root, 2000, BLOCKS+NEED_GUARDED
        POOL_END

#include "growth/x86_64/morestack.S"
