// void nth_marks_call(call_frame *): calls a function on another stack. Below its CFA nothing but its own frames is
// written: the caller's stack pointer is kept in rbp, the frame in rbx, which the function preserves.
//
// Offsets of call_frame (paint.hpp; pinned in paint.cpp):
#define GENERAL 0
#define VECTOR 48
#define VECTORS 176
#define WORDS 184
#define WORD_COUNT 192
#define FUNCTION 200
#define TOP 208
#define RAX 216
#define RDX 224
#define XMM0 240
#define XMM1 256

        .text
        .globl nth_marks_call
        .hidden nth_marks_call
        .type nth_marks_call, @function
nth_marks_call:
        .cfi_startproc
        endbr64
        pushq %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        movq %rsp, %rbp
        .cfi_def_cfa_register %rbp
        pushq %rbx
        .cfi_offset %rbx, -24
        movq %rdi, %rbx

        movq WORD_COUNT(%rbx), %rcx
        movq WORDS(%rbx), %rsi
        movq TOP(%rbx), %rsp
1:      testq %rcx, %rcx
        jz 2f
        pushq -8(%rsi,%rcx,8)
        decq %rcx
        jmp 1b
2:
        movaps VECTOR(%rbx), %xmm0
        movaps VECTOR+16(%rbx), %xmm1
        movaps VECTOR+32(%rbx), %xmm2
        movaps VECTOR+48(%rbx), %xmm3
        movaps VECTOR+64(%rbx), %xmm4
        movaps VECTOR+80(%rbx), %xmm5
        movaps VECTOR+96(%rbx), %xmm6
        movaps VECTOR+112(%rbx), %xmm7
        movq GENERAL(%rbx), %rdi
        movq GENERAL+8(%rbx), %rsi
        movq GENERAL+16(%rbx), %rdx
        movq GENERAL+24(%rbx), %rcx
        movq GENERAL+32(%rbx), %r8
        movq GENERAL+40(%rbx), %r9
        movq VECTORS(%rbx), %rax
        call *FUNCTION(%rbx)
        movq %rax, RAX(%rbx)
        movq %rdx, RDX(%rbx)
        movups %xmm0, XMM0(%rbx)
        movups %xmm1, XMM1(%rbx)
        fninit                          // drops a result in st(0)

        leaq -8(%rbp), %rsp
        popq %rbx
        popq %rbp
        .cfi_def_cfa %rsp, 8
        ret
        .cfi_endproc
        .size nth_marks_call, . - nth_marks_call

        .section .note.GNU-stack, "", @progbits
