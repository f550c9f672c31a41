/* setjmp and longjmp for threads that move: the C library hides rsp, rbp and rip in a jmp_buf behind a word that is
 * random in each process (glibc, PTR_MANGLE), so a jmp_buf from one rank means nothing on another. On stacks of the area
 * these keep them as they are, on all other stacks the C library's do the work. A jmp_buf says which of them filled it:
 *
 *   0 rbx | 8 rbp | 16 r12 | 24 r13 | 32 r14 | 40 r15 | 48 rsp | 56 rip | 64 tag + saved (int) | 72 signal mask
 *
 * (glibc, x86-64: __jmp_buf, mask_was_saved, __saved_mask; its own is 0 or 1 there.) They are defined in the program,
 * so shared libraries, which look there first, use them too.
 */

#include "arch/jump_tag.h"

        .set    tag, NTH_JUMP_TAG
        .set    at_rbp, 8
        .set    at_rsp, 48
        .set    at_rip, 56
        .set    at_tag, 64
        .set    at_mask, 72
        .set    sigprocmask_call, 14    /* rt_sigprocmask(how, set, old, 8) */
        .set    sig_block, 0
        .set    sig_setmask, 2
        .set    mask_bytes, 8

        .text
        .macro FUNCTION name
        .globl  \name
        .type   \name, @function
        .p2align 4
\name:
        .cfi_startproc
        endbr64
        .endm
        .macro END name
        .cfi_endproc
        .size   \name, . - \name
        .endm

        /* rdi: the jmp_buf, esi: whether the signal mask is to be kept. */
FUNCTION __sigsetjmp
        movq    %rsp, %rax
        subq    nth_jumps_area(%rip), %rax
        cmpq    nth_jumps_area+8(%rip), %rax
        jae     .Lset_elsewhere
        movq    %rbx, (%rdi)
        movq    %rbp, at_rbp(%rdi)
        movq    %r12, 16(%rdi)
        movq    %r13, 24(%rdi)
        movq    %r14, 32(%rdi)
        movq    %r15, 40(%rdi)
        leaq    8(%rsp), %rdx
        movq    %rdx, at_rsp(%rdi)
        movq    (%rsp), %rdx
        movq    %rdx, at_rip(%rdi)
        movl    $tag, at_tag(%rdi)
        testl   %esi, %esi
        jz      1f
        incl    at_tag(%rdi)
        leaq    at_mask(%rdi), %rdx
        xorl    %esi, %esi
        movl    $sig_block, %edi
        movl    $mask_bytes, %r10d
        movl    $sigprocmask_call, %eax
        syscall
1:      xorl    %eax, %eax
        ret
.Lset_elsewhere:
        jmp     *nth_jumps_sigsetjmp(%rip)
END __sigsetjmp

FUNCTION _setjmp
        xorl    %esi, %esi
        jmp     __sigsetjmp
END _setjmp

FUNCTION setjmp
        movl    $1, %esi
        jmp     __sigsetjmp
END setjmp

        /* rdi: the jmp_buf, esi: what setjmp returns there, 1 for 0. */
        .macro JUMP name, otherwise
FUNCTION \name
        movl    at_tag(%rdi), %eax
        andl    $-2, %eax
        cmpl    $tag, %eax
        je      nth_jumps_jump
        jmp     *\otherwise(%rip)
END \name
        .endm

        .globl  nth_jumps_jump
        .hidden nth_jumps_jump
        .type   nth_jumps_jump, @function
        .p2align 4
nth_jumps_jump:
        .cfi_startproc
        movq    %rdi, %rbx
        movl    %esi, %ebp
        testl   $1, at_tag(%rdi)
        jz      1f
        leaq    at_mask(%rbx), %rsi
        xorl    %edx, %edx
        movl    $sig_setmask, %edi
        movl    $mask_bytes, %r10d
        movl    $sigprocmask_call, %eax
        syscall
1:      movl    $1, %eax
        testl   %ebp, %ebp
        cmovnz  %ebp, %eax
        movq    %rbx, %rdi
        movq    (%rdi), %rbx
        movq    at_rbp(%rdi), %rbp
        movq    16(%rdi), %r12
        movq    24(%rdi), %r13
        movq    32(%rdi), %r14
        movq    40(%rdi), %r15
        movq    at_rip(%rdi), %rdx
        movq    at_rsp(%rdi), %rsp
        jmp     *%rdx
        .cfi_endproc
        .size   nth_jumps_jump, . - nth_jumps_jump

        JUMP    siglongjmp, nth_jumps_siglongjmp
        JUMP    longjmp, nth_jumps_siglongjmp
        JUMP    _longjmp, nth_jumps_siglongjmp
        JUMP    __longjmp_chk, nth_jumps_longjmp_chk

        .section .note.GNU-stack, "", @progbits
