/* Entries of the C interface that are more than C can say, for x86-64, System V ABI. */

#include "arch/desc_offsets.h"

        .text
        .p2align 4
        .globl  nth_create_ls
        .type   nth_create_ls, @function
/* struct nth_desc *nth_create_ls(void (*root)(), int ndep, struct nth_desc *succ, int narg, ...) */
nth_create_ls:
        .cfi_startproc
        cmpl    $2, %ecx
        ja      nth_create_ls_many
        jmp     nth_create_ls_two
        .cfi_endproc
        .size   nth_create_ls, . - nth_create_ls

        .p2align 4
        .globl  nth_batch_create_ls
        .type   nth_batch_create_ls, @function
/* void nth_batch_create_ls(struct nth_desc *thread, void (*root)(), int ndep, struct nth_desc *succ, int narg, ...)
 * All of it for a common member and up to two words; the second lies where a seventh named argument would, above
 * the return address. */
nth_batch_create_ls:
        .cfi_startproc
        cmpl    $2, %r8d
        ja      nth_batch_create_ls_many
        testq   %rdi, %rdi
        jz      nth_batch_create_ls_two
        cmpw    $NTH_DESC_MEMBER, NTH_DESC_STATE(%rdi)
        jne     nth_batch_create_ls_two
        testq   %rsi, %rsi
        jz      nth_batch_create_ls_two
        cmpl    $NTH_MOST_DEPENDENCIES, %edx
        ja      nth_batch_create_ls_two
        movq    8(%rsp), %rax
        movq    %rsi, NTH_DESC_ROOT(%rdi)
        movq    %rcx, NTH_DESC_SUCC(%rdi)
        movl    %edx, NTH_DESC_NDEP(%rdi)
        movw    $NTH_DESC_CREATED, NTH_DESC_STATE(%rdi)
        movq    %r9, NTH_DESC_ARGS(%rdi)
        movq    %rax, NTH_DESC_ARGS + 8(%rdi)
        ret
        .cfi_endproc
        .size   nth_batch_create_ls, . - nth_batch_create_ls

        .p2align 4
        .globl  nth_batch_get_next
        .type   nth_batch_get_next, @function
/* struct nth_desc *nth_batch_get_next(struct nth_desc *thread), where nth.h does not have it in line */
nth_batch_get_next:
        .cfi_startproc
        movq    NTH_DESC_NEXT(%rdi), %rax
        ret
        .cfi_endproc
        .size   nth_batch_get_next, . - nth_batch_get_next

        .section .note.GNU-stack, "", @progbits
