/* nth_growth_enter and nth_growth_leave, for x86-64, System V ABI: the switch that is common, between the two stacks of
 * the last one (worker.hpp, edge_of_stack). All else is enter.cpp's, and nothing was changed when that is called.
 *
 * rbp is the frame of __morestack (morestack.S draws it), where that has saved rax, rcx, rdx and rdi; no other register
 * is touched, but for the calls of enter.cpp, before which the rest is saved there.
 *
 * The order of the stores: whoever jumps out of a signal handler may have interrupted any of them. A segment is above a
 * stack before it is no longer the one that is kept, and the other way round (enter.cpp, leave_by_longjmp).
 */

#include "arch/worker_offsets.h"

#define EDGE(field) (NTH_WORKER_EDGE + NTH_EDGE_##field)

        .macro WORKER to
        movq    nth_tls_worker@gottpoff(%rip), \to
        movq    %fs:(\to), \to
        .endm

        /* Around calls of enter.cpp. */
        .macro SAVE_THE_REST
        movq    %rsi, -32(%rbp)
        movq    %r8, -48(%rbp)
        movq    %r9, -56(%rbp)
        movq    %r10, -64(%rbp)
        movq    %r11, -72(%rbp)
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        .endm

        .macro RESTORE_THE_REST
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        movq    -32(%rbp), %rsi
        movq    -48(%rbp), %r8
        movq    -56(%rbp), %r9
        movq    -64(%rbp), %r10
        movq    -72(%rbp), %r11
        .endm

        /* rdi: the quick_stub (program.hpp) of the stub that asks. The tables are registered, for there are limits. */
        .macro QUICK_STUB
        movq    8(%rbp), %rdi
        andq    $-32, %rdi
        addq    nth_detail_stubs_from_pool(%rip), %rdi
        .endm

        /* The limits, and what spawned calls go by; `bounds`: of which of the two stacks. */
        .macro BOUND bounds, worker, first, second
        movq    NTH_WORKER_LIMITS(\worker), \first
        .irp    limit, 0, 8, 16, 24
        movq    \bounds + \limit(\worker), \second
        movq    \second, \limit(\first)
        .endr
        movq    \bounds + NTH_BOUNDS_MASK(\worker), \first
        movq    \bounds + NTH_BOUNDS_FLOOR(\worker), \second
        movq    \first, NTH_WORKER_FORK_MASK(\worker)
        movq    \second, NTH_WORKER_FORK_FLOOR(\worker)
        .endm

        .text
        .p2align 4
        .globl  nth_growth_enter
        .type   nth_growth_enter, @function
/* void *nth_growth_enter(const nth_growth_header *program), rbp: the frame */
nth_growth_enter:
        .cfi_startproc
        WORKER  %rcx
        movq    EDGE(UNDER)(%rcx), %rax
        leaq    16(%rbp), %rdx          /* rsp at the stub's entry */
        cmpq    %rax, NTH_WORKER_EDGE(%rcx)
        jne     .Lenter_elsewhere
        subq    EDGE(UNDER_LOWEST)(%rcx), %rdx
        cmpq    EDGE(UNDER_BYTES)(%rcx), %rdx
        jae     .Lenter_any
        QUICK_STUB
        cmpq    8(%rdi), %rdx
        jae     .Lgo_on
        testb   $8, %dl                 /* the segment's frames begin at such a place */
        jz      .Lenter_any_registered
        movq    16(%rdi), %rdx
        subq    EDGE(LEAST)(%rcx), %rdx
        cmpq    EDGE(SPAN)(%rcx), %rdx
        ja      .Lenter_any_registered
        movq    (%rdi), %rdx
        movq    EDGE(SEGMENT)(%rcx), %rdi
        cmpq    %rdi, EDGE(KEPT)(%rcx)
        jne     .Lenter_any_registered
        movq    %rdx, -80(%rbp)
        movl    EDGE(UNITS)(%rcx), %edx
        addl    NTH_STACK_SEGMENTS(%rax), %edx
        cmpl    EDGE(MOST)(%rcx), %edx
        ja      .Lenter_any_registered
        movl    %edx, NTH_STACK_SEGMENTS(%rdi)
        movq    NTH_STACK_THREAD(%rax), %rdx
        movq    %rdx, NTH_STACK_THREAD(%rdi)
        movq    %rax, NTH_STACK_NEXT(%rdi)
        movq    %rdi, NTH_STACK_ABOVE(%rax)
        movq    $0, EDGE(KEPT)(%rcx)
        movq    %rdi, NTH_WORKER_EDGE(%rcx)
        incq    EDGE(HITS)(%rcx)
        BOUND   EDGE(OF_SEGMENT), %rcx, %rdi, %rdx
        movq    EDGE(BEGIN)(%rcx), %rax
        ret

        /* On another stack than the last switch was on: whether there is room, by the limits in force. */
.Lenter_elsewhere:
        movq    NTH_WORKER_EDGE(%rcx), %rax
        testq   %rax, %rax
        jz      .Lenter_any
        movq    NTH_WORKER_LIMITS(%rcx), %rdi
        movq    (%rdi), %rdi
        subq    nth_detail_above_lowest(%rip), %rdi /* the lowest byte */
        subq    %rdi, %rax
        subq    %rdi, %rdx
        cmpq    %rax, %rdx
        jae     .Lenter_any_registered
        QUICK_STUB
        cmpq    8(%rdi), %rdx
        jb      .Lenter_any_registered

.Lgo_on:
        movq    (%rdi), %rdx
        movq    %rdx, -80(%rbp)
        xorl    %eax, %eax
        ret

.Lenter_any_registered:
        movq    nth_detail_program(%rip), %rdi
.Lenter_any:
        SAVE_THE_REST
        movq    %rbp, %rsi
        call    nth_detail_enter
        movq    %rax, (%rsp)
        movq    %rax, %rdi
        movq    %rbp, %rsi
        call    nth_detail_note_edge
        movq    (%rsp), %rax
        RESTORE_THE_REST
        ret
        .cfi_endproc
        .size   nth_growth_enter, . - nth_growth_enter

        .p2align 4
        .globl  nth_growth_leave
        .type   nth_growth_leave, @function
/* void nth_growth_leave(void), rbp: the frame, on the stack beneath */
nth_growth_leave:
        .cfi_startproc
        WORKER  %rcx
        movq    EDGE(SEGMENT)(%rcx), %rdi
        movq    EDGE(UNDER)(%rcx), %rax
        leaq    16(%rbp), %rdx
        cmpq    %rdi, NTH_WORKER_EDGE(%rcx)
        jne     .Lleave_any
        cmpq    %rax, NTH_STACK_NEXT(%rdi)
        jne     .Lleave_any
        subq    EDGE(UNDER_LOWEST)(%rcx), %rdx
        cmpq    EDGE(UNDER_BYTES)(%rcx), %rdx
        jae     .Lleave_any
        cmpq    $0, EDGE(KEPT)(%rcx)
        jne     .Lleave_any
        cmpl    $0, NTH_STACK_SEGMENTS(%rax) /* segment_retired is its sign */
        jl      .Lleave_any
        movq    %rdi, EDGE(KEPT)(%rcx)
        movq    $0, NTH_STACK_ABOVE(%rax)
        movl    $0, NTH_STACK_SEGMENTS(%rdi)
        movq    %rax, NTH_WORKER_EDGE(%rcx)
        BOUND   EDGE(OF_UNDER), %rcx, %rdi, %rdx
        ret

.Lleave_any:
        SAVE_THE_REST
        call    nth_detail_leave
        RESTORE_THE_REST
        ret
        .cfi_endproc
        .size   nth_growth_leave, . - nth_growth_leave

        .hidden nth_tls_worker
        .hidden nth_detail_enter
        .hidden nth_detail_leave
        .hidden nth_detail_note_edge
        .hidden nth_detail_program
        .hidden nth_detail_stubs_from_pool
        .hidden nth_detail_above_lowest
        .section .note.GNU-stack, "", @progbits
