/* Context switches for x86-64, System V ABI.
 *
 * A suspended context is one stack pointer (the thread's sp, a multiple of 16):
 *
 *     sp + 56   return address into the caller
 *     sp + 48   rbp
 *     sp + 40   rbx
 *     sp + 32   r12
 *     sp + 24   r13
 *     sp + 16   r14
 *     sp +  8   r15
 *     sp        address to continue at
 *
 * so whoever resumes it needs to know one thing only: load rsp, pop, jump. A fresh context has the
 * address of an entry below at sp, and nothing above it. The jump is not a `ret`: the return predictor
 * would be wrong each time.
 *
 * The routines ask a C++ function what to continue with (rax: stack pointer, 0: impossible; rdx: the
 * worker), leave the stack, and only then clear the worker's `busy` word at offset 0: until then no
 * thief can see the context that was just put into the worker's private part (design.md, section 3).
 *
 * nth_yield ends in a jump, so that call sites that take turns are predicted by history; nth_block ends
 * in `ret`, for it nests: a creator that waits for its threads comes back as a call does.
 */

#include "arch/worker_offsets.h"

#if defined(NTH_ASAN) || defined(NTH_TSAN)
#define ANNOTATED 1
#else
#define ANNOTATED 0
#endif

        .text

        .macro FUNCTION name
        .p2align 4
        .globl  \name
        .type   \name, @function
\name:
        .cfi_startproc
        .endm

        .macro END name
        .cfi_endproc
        .size   \name, . - \name
        .endm

        .macro SAVE resume
        pushq   %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        pushq   %rbx
        .cfi_def_cfa_offset 24
        .cfi_offset %rbx, -24
        pushq   %r12
        .cfi_def_cfa_offset 32
        .cfi_offset %r12, -32
        pushq   %r13
        .cfi_def_cfa_offset 40
        .cfi_offset %r13, -40
        pushq   %r14
        .cfi_def_cfa_offset 48
        .cfi_offset %r14, -48
        pushq   %r15
        .cfi_def_cfa_offset 56
        .cfi_offset %r15, -56
        leaq    \resume(%rip), %rax
        pushq   %rax
        .cfi_def_cfa_offset 64
        .endm

        .macro RESTORE
        .cfi_def_cfa_offset 56
        popq    %r15
        .cfi_def_cfa_offset 48
        .cfi_restore %r15
        popq    %r14
        .cfi_def_cfa_offset 40
        .cfi_restore %r14
        popq    %r13
        .cfi_def_cfa_offset 32
        .cfi_restore %r13
        popq    %r12
        .cfi_def_cfa_offset 24
        .cfi_restore %r12
        popq    %rbx
        .cfi_def_cfa_offset 16
        .cfi_restore %rbx
        popq    %rbp
        .cfi_def_cfa_offset 8
        .cfi_restore %rbp
        .endm

        /* Where there is nothing to switch to: behind a LEAVE_STACK, as SAVE has left the stack. */
        .macro UNSAVE
        .cfi_def_cfa_offset 64
        .cfi_offset %rbp, -16
        .cfi_offset %rbx, -24
        .cfi_offset %r12, -32
        .cfi_offset %r13, -40
        .cfi_offset %r14, -48
        .cfi_offset %r15, -56
        popq    %rax
        RESTORE
        .endm

        /* Tells tools that the stack in rax comes next; dropped = 1: the stack that is left is not resumed. */
#if ANNOTATED
        .macro TELL dropped
        pushq   %rax
        pushq   %rdx
        movq    %rax, %rdi
        movl    $\dropped, %esi
        call    nth_annotate_departure
        popq    %rdx
        popq    %rax
        .endm
#define DEPART(dropped) TELL dropped
#else
#define DEPART(dropped)
#endif

        /* To the stack in rax, worker in rdx. */
        .macro LEAVE_STACK
        movq    %rax, %rsp
#if ANNOTATED
        movq    %rdx, %rdi
        call    nth_annotate_arrival
#else
        movl    $0, (%rdx)
#endif
        popq    %rcx
        jmp     *%rcx
        .endm

/* The worker (struct worker, see the static_asserts there). */
#define SPECIAL NTH_WORKER_SPECIAL
#define SPECIAL_CLASS 2
#define LOOP_SP NTH_WORKER_LOOP_SP
#define ENDED NTH_WORKER_ENDED
#define TOP_THREAD 56
#define DESC_ROOT 8
#define DESC_ARGS 32

        .macro WORKER to
        movq    nth_tls_worker@gottpoff(%rip), \to
        movq    %fs:(\to), \to
        .endm

        /* Calls `pick`(rsp, esi). A thread on a stack of its own class may have no room for it there: it is
         * called on the scheduler's stack, below the suspended loop's context. (Under sanitizers no class is
         * that small, and they want to know of each change of stacks.) */
        .macro PICK pick
        movq    %rsp, %rdi
#if !ANNOTATED
        WORKER  %rdx
        cmpl    $SPECIAL_CLASS, SPECIAL(%rdx)
        je      1f
        call    \pick
        jmp     2f
1:      .cfi_remember_state
        movq    %rsp, %rbp
        .cfi_def_cfa_register %rbp
        movq    LOOP_SP(%rdx), %rsp
        call    \pick
        movq    %rbp, %rsp
        .cfi_restore_state
2:
#else
        call    \pick
#endif
        .endm

/* void nth_yield(void) */
        FUNCTION nth_yield
        SAVE    .Lyield_resume
        PICK    nth_pick_yield
        DEPART(0)
        LEAVE_STACK
.Lyield_resume:
        RESTORE
        popq    %rcx
        .cfi_def_cfa_offset 0
        .cfi_register %rip, %rcx
        jmp     *%rcx
        END     nth_yield

/* nth_status nth_try_block_switch(void) */
        .hidden nth_try_block_switch
        FUNCTION nth_try_block_switch
        SAVE    .Lblock_resume
        PICK    nth_pick_block
        testq   %rax, %rax
        jz      .Lblock_refused
        DEPART(0)
        LEAVE_STACK
.Lblock_resume:
        RESTORE
        xorl    %eax, %eax
        ret
.Lblock_refused:
        UNSAVE
        movl    $2, %eax                /* NTH_ENOMEM, see the static_assert in suspend.cpp */
        ret
        END     nth_try_block_switch

/* void nth_block_switch(void): as above; a refusal goes to the error handler. */
        .hidden nth_block_switch
        FUNCTION nth_block_switch
        SAVE    .Lvoid_resume
        PICK    nth_pick_block
        testq   %rax, %rax
        jz      .Lvoid_refused
        DEPART(0)
        LEAVE_STACK
.Lvoid_resume:
        RESTORE
        ret
.Lvoid_refused:
        UNSAVE
        jmp     nth_block_refused
        END     nth_block_switch

/* int nth_wait_spawned(nth_spawn_record *record): suspends the caller until the call has ended. 1: no stack to go
 * on with. */
        .hidden nth_wait_spawned
        FUNCTION nth_wait_spawned
        SAVE    .Lspawned_resume
        movq    %rdi, %rsi
        PICK    nth_pick_wait
        testq   %rax, %rax
        jz      .Lspawned_refused
        DEPART(0)
        LEAVE_STACK
.Lspawned_resume:
        RESTORE
        xorl    %eax, %eax
        ret
.Lspawned_refused:
        UNSAVE
        movl    $1, %eax
        ret
        END     nth_wait_spawned

/* void nth_make_way(int end): the creator of too many threads lets the newest at that end run first. */
        .hidden nth_make_way
        FUNCTION nth_make_way
        SAVE    .Lway_resume
        movl    %edi, %esi
        PICK    nth_pick_make_way
        DEPART(0)
        LEAVE_STACK
.Lway_resume:
        RESTORE
        ret
        END     nth_make_way

/* void nth_arch_enter(void **save, void *to, worker *w): suspends the caller, its context goes to *save. */
        .hidden nth_arch_enter
        FUNCTION nth_arch_enter
        SAVE    .Lenter_resume
        movq    %rsp, (%rdi)
        movq    %rsi, %rax
        DEPART(0)
        LEAVE_STACK
.Lenter_resume:
        RESTORE
        ret
        END     nth_arch_enter

/* void nth_arch_drop(void *to, worker *w): does not return. The
 * stack that is left is to be used again from its top (drop: it is the caller's last word on it). */
        .hidden nth_arch_drop
        FUNCTION nth_arch_drop
        subq    $8, %rsp
        .cfi_def_cfa_offset 16
        movq    %rdi, %rax
        movq    %rsi, %rdx
        DEPART(1)
        LEAVE_STACK
        END     nth_arch_drop

/* Where a fresh context begins: at rsp lies the C++ function to run. It never returns; it is jumped to
 * with a return address that lies below, where backtraces end. A call would unbalance the return
 * predictor, for contexts that begin here are left by a jump. */
        .hidden nth_arch_entry
        FUNCTION nth_arch_entry
        .cfi_undefined %rip
        xorl    %ebp, %ebp
        leaq    nth_arch_end(%rip), %rcx
        popq    %rax
        pushq   %rcx
        jmp     *%rax
        END     nth_arch_entry

/* void nth_arch_call_on(void *sp, void (*f)(void *), void *argument) */
        .hidden nth_arch_call_on
        FUNCTION nth_arch_call_on
        pushq   %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        movq    %rsp, %rbp
        .cfi_def_cfa_register %rbp
        movq    %rdi, %rsp
        movq    %rdx, %rdi
        call    *%rsi
        leave
        .cfi_def_cfa %rsp, 8
        ret
        END     nth_arch_call_on

/* Where a thread on a stack of its own class begins: rsp is 8 below the stack_top, whose thread is to run.
 * After its root it leaves for the scheduler's loop, which gives the stack back. */
        .hidden nth_arch_start
        FUNCTION nth_arch_start
        .cfi_undefined %rip
        addq    $8, %rsp
        movq    TOP_THREAD(%rsp), %rax
        xorl    %ebp, %ebp
        movq    DESC_ARGS(%rax), %rdi
        movq    DESC_ARGS+8(%rax), %rsi
        movq    DESC_ARGS+16(%rax), %rdx
        movq    DESC_ARGS+24(%rax), %rcx
        call    *DESC_ROOT(%rax)
        WORKER  %rdx
        movq    TOP_THREAD(%rsp), %rax
        movq    %rax, ENDED(%rdx)
        movq    %rsp, DESC_ARGS(%rax)   /* saved_sp: the loop finds the stack there */
        movq    LOOP_SP(%rdx), %rax
        DEPART(1)
        LEAVE_STACK
        END     nth_arch_start

/* void nth_arch_call_in_place(long a, long b, long c, long d, void (*root)()) */
        .hidden nth_arch_call_in_place
        FUNCTION nth_arch_call_in_place
        .cfi_undefined %rip
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        call    *%r8
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        ret
        END     nth_arch_call_in_place

/* The return address of all loops and threads. Unwinders look one byte before it. */
        .hidden nth_arch_end
        FUNCTION nth_arch_bottom
        .cfi_undefined %rip
        nop
nth_arch_end:
        ud2
        END     nth_arch_bottom

/* void nth_arch_call_words(void (*root)(), long n, const long *words): root(words[0], …, words[n - 1]). */
        .hidden nth_arch_call_words
        FUNCTION nth_arch_call_words
        pushq   %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        movq    %rsp, %rbp
        .cfi_def_cfa_register %rbp
        movq    %rdi, %rax
        movq    %rdx, %r10
        movq    %rsi, %r11
        subq    $6, %r11                /* words that go to the stack */
        jle     2f
        movq    %r11, %rcx              /* an even number of them keeps rsp a multiple of 16 */
        andq    $1, %rcx
        shlq    $3, %rcx
        subq    %rcx, %rsp
1:      pushq   40(%r10, %r11, 8)       /* words[5 + r11]: last word first */
        decq    %r11
        jnz     1b
2:      movq    (%r10), %rdi            /* at least six words can be read, see run_spilled */
        movq    8(%r10), %rsi
        movq    16(%r10), %rdx
        movq    24(%r10), %rcx
        movq    32(%r10), %r8
        movq    40(%r10), %r9
        movq    %rax, %r11
        xorl    %eax, %eax
        call    *%r11
        leave
        .cfi_def_cfa %rsp, 8
        ret
        END     nth_arch_call_words

        .section .note.GNU-stack, "", @progbits
