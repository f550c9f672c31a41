/* What the tests here do with registers and stacks, which no compiler can. */
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

/* uintptr_t here(void): rsp at its entry. */
        FUNCTION here
        movq    %rsp, %rax
        ret
        END     here

/* uintptr_t call_at(uintptr_t rsp, uintptr_t (*function)(void *), void *argument): so that rsp is that at its entry. */
        FUNCTION call_at
        pushq   %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        movq    %rsp, %rbp
        .cfi_def_cfa_register %rbp
        leaq    8(%rdi), %rsp
        movq    %rdx, %rdi
        call    *%rsi
        movq    %rbp, %rsp
        popq    %rbp
        .cfi_def_cfa %rsp, 8
        ret
        END     call_at

/* long call_words(long (*function)(long n, ...), long n, const long words[64]): function(n, words[0 … 4] in registers,
 * words[5 … 68] on the stack). words_return is in the table of sites. */
        FUNCTION call_words
        .globl  words_return
        pushq   %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        movq    %rsp, %rbp
        .cfi_def_cfa_register %rbp
        movq    %rdi, %r11
        movq    %rsi, %rdi
        movq    %rdx, %r10
        movl    $64, %ecx
1:      pushq   32(%r10, %rcx, 8)
        decl    %ecx
        jnz     1b
        movq    (%r10), %rsi
        movq    8(%r10), %rdx
        movq    16(%r10), %rcx
        movq    24(%r10), %r8
        movq    32(%r10), %r9
        xorl    %eax, %eax
        call    *%r11
words_return:
        leave
        .cfi_def_cfa %rsp, 8
        ret
        END     call_words

/* void call_often(uintptr_t rsp, uintptr_t (*function)(void), long n): as call_at, n times. */
        FUNCTION call_often
        pushq   %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        movq    %rsp, %rbp
        .cfi_def_cfa_register %rbp
        leaq    8(%rdi), %rsp
1:      call    *%rsi
        decq    %rdx
        jnz     1b
        movq    %rbp, %rsp
        popq    %rbp
        .cfi_def_cfa %rsp, 8
        ret
        END     call_often

/* long call_far(long (*function)(long n), long n): function(n), with 2000 words above its return address that hold
 * 3 * 0, 3 * 1, … far_return is in the table of sites. */
        FUNCTION call_far
        .globl  far_return
        pushq   %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        movq    %rsp, %rbp
        .cfi_def_cfa_register %rbp
        movq    %rdi, %rdx
        movq    %rsi, %rdi
        movl    $1999, %ecx
1:      leaq    (%rcx, %rcx, 2), %rax
        pushq   %rax
        decq    %rcx
        jns     1b
        call    *%rdx
far_return:
        leave
        .cfi_def_cfa %rsp, 8
        ret
        END     call_far

/* long far(long n): the n-th word above the return address. */
        FUNCTION far
        movq    8(%rsp, %rdi, 8), %rax
        ret
        END     far

        .irp    name, longjmp, siglongjmp, _longjmp, __longjmp_chk, setcontext, swapcontext
        FUNCTION to_\name
        jmp     *\name@GOTPCREL(%rip)
        END     to_\name
        .endr

/* ---- All registers. struct registers (machine.hpp): 16 words, 16 of 64 bytes or 32 of them, 8 of 16 for x87. ---- */

        .macro EACH_VECTOR move, prefix, count, load
        .set    i, 0
        .rept   \count
        VECTOR  \move, \prefix, %i, \load
        .set    i, i + 1
        .endr
        .endm
        .altmacro
        .macro VECTOR move, prefix, number, load
        .if     \load
        \move   128 + 64 * \number(%rax), %\prefix\number
        .else
        \move   %\prefix\number, 128 + 64 * \number(%rax)
        .endif
        .endm

        /* vector_kind: 0 SSE, 1 AVX, 2 AVX-512 */
        .macro VECTORS load
        cmpl    $1, vector_kind(%rip)
        jb      1f
        je      2f
        EACH_VECTOR vmovdqu64, zmm, 32, \load
        jmp     3f
2:      EACH_VECTOR vmovdqu, ymm, 16, \load
        jmp     3f
1:      EACH_VECTOR movdqu, xmm, 16, \load
3:
        .endm

        /* Loads all from rax, rax last; eight x87 registers. */
        .macro LOAD_ALL
        VECTORS 1
        fninit
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
        fldt    128 + 64 * 32 + 16 * \n(%rax)
        .endr
        movq    8(%rax), %rcx
        movq    16(%rax), %rdx
        movq    24(%rax), %rsi
        movq    32(%rax), %rdi
        movq    40(%rax), %r8
        movq    48(%rax), %r9
        movq    56(%rax), %r10
        movq    64(%rax), %r11
        movq    72(%rax), %rbx
        movq    80(%rax), %rbp
        movq    88(%rax), %r12
        movq    96(%rax), %r13
        movq    104(%rax), %r14
        movq    112(%rax), %r15
        movq    (%rax), %rax
        .endm

        /* Stores all to what `place` holds; the x87 stack is empty afterwards. rax and rsp's red zone are used. */
        .macro STORE_ALL place
        movq    %rax, kept_rax(%rip)
        movq    \place(%rip), %rax
        movq    %rcx, 8(%rax)
        movq    %rdx, 16(%rax)
        movq    %rsi, 24(%rax)
        movq    %rdi, 32(%rax)
        movq    %r8, 40(%rax)
        movq    %r9, 48(%rax)
        movq    %r10, 56(%rax)
        movq    %r11, 64(%rax)
        movq    %rbx, 72(%rax)
        movq    %rbp, 80(%rax)
        movq    %r12, 88(%rax)
        movq    %r13, 96(%rax)
        movq    %r14, 104(%rax)
        movq    %r15, 112(%rax)
        movq    kept_rax(%rip), %rcx
        movq    %rcx, (%rax)
        VECTORS 0
        .irp    n, 7, 6, 5, 4, 3, 2, 1, 0
        fstpt   128 + 64 * 32 + 16 * \n(%rax)
        .endr
        .endm

/* void call_registers(uintptr_t rsp, void (*function)(void)): calls it there with all registers as `given`; `returned`
 * is what they are afterwards. */
        FUNCTION call_registers
        pushq   %rbp
        pushq   %rbx
        pushq   %r12
        pushq   %r13
        pushq   %r14
        pushq   %r15
        movq    %rsp, kept_rsp(%rip)
        movq    %rsi, kept_function(%rip)
        leaq    8(%rdi), %rsp
        movq    given(%rip), %rax
        LOAD_ALL
        call    *kept_function(%rip)
        STORE_ALL returned
        movq    kept_rsp(%rip), %rsp
        popq    %r15
        popq    %r14
        popq    %r13
        popq    %r12
        popq    %rbx
        popq    %rbp
        ret
        END     call_registers

/* Records what it is called with in `arrived`, and returns with what `answered` says, rbp and the other registers that
 * a callee keeps as they were. */
        FUNCTION registers_target
        movq    %rsp, arrived_rsp(%rip)
        STORE_ALL arrived
        movq    answered(%rip), %rax
        movq    arrived(%rip), %rcx
        .irp    n, 72, 80, 88, 96, 104, 112
        movq    \n(%rcx), %rdx
        movq    %rdx, \n(%rax)
        .endr
        LOAD_ALL
        ret
        END     registers_target

        .bss
        .p2align 3
kept_rax:
        .zero   8
kept_rsp:
        .zero   8
kept_function:
        .zero   8
        .irp    name, given, arrived, answered, returned, arrived_rsp
        .globl  \name
\name:  .zero   8
        .endr
        .globl  vector_kind
vector_kind:
        .zero   4
        .section .note.GNU-stack, "", @progbits
