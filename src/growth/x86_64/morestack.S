/* The program's side of small stacks, for x86-64, System V ABI (nth/growth.h, doc/small-stacks.md): what nth-stack links
 * into a program, behind its stubs and in one file with them. So it includes nothing, and needs one name from the
 * pool: nth_growth_program, the header of the tables. It gives __morestack and nth_stack_limits to the stubs.
 *
 * The frame of __morestack, on the stack of the caller of the stub; growth/frame.hpp describes it for libnth:
 *
 *     rbp + 24   arguments on the stack
 *     rbp + 16   return address into the caller: where rsp was at the stub's entry
 *     rbp +  8   return address into the stub, by which the stub is known
 *     rbp        rbp of the caller
 *     rbp -  8   rax        rbp - 32  (rsi)       rbp - 56  (r9)
 *     rbp - 16   rcx        rbp - 40   rdi        rbp - 64  (r10)
 *     rbp - 24   rdx        rbp - 48  (r8)        rbp - 72  (r11)     in brackets: libnth's to save
 *     rbp - 80   the stub's target, written by nth_growth_enter
 *
 * No register may change but the flags: code compiled with -fipa-ra keeps values in any register across a call of a
 * function that it knows to leave that one alone.
 */

        .set    frame_rest, 88          /* bytes below rbp; rsp is a multiple of 16 then, where the caller's was */
        .set    target_at, -80

        /* What nth_growth_enter and nth_growth_leave change. Others they save in the frame when they have to. */
        .macro SAVE
        movq    %rax, -8(%rbp)
        movq    %rcx, -16(%rbp)
        movq    %rdx, -24(%rbp)
        movq    %rdi, -40(%rbp)
        .endm

        .macro RESTORE
        movq    -8(%rbp), %rax
        movq    -16(%rbp), %rcx
        movq    -24(%rbp), %rdx
        movq    -40(%rbp), %rdi
        .endm

        .section .nth_stubs, "ax", @progbits
        .p2align 5

/* Called by a stub. To unwinders it looks as if its caller's caller had called it: CFA = rbp + 24 leaves the stub out.
 * The name is known to gdb, which else takes a frame on a lower address for a broken one. */
        .type   __morestack, @function
__morestack:
        .cfi_startproc
        .cfi_personality 0x1b, nth_call_personality
        .cfi_def_cfa_offset 16
        pushq   %rbp
        .cfi_def_cfa_offset 24
        .cfi_offset %rbp, -24
        movq    %rsp, %rbp
        .cfi_def_cfa_register %rbp
        subq    $frame_rest, %rsp
        SAVE
        andq    $-16, %rsp
        leaq    nth_growth_program(%rip), %rdi
        call    *nth_growth_enter@GOTPCREL(%rip)
        testq   %rax, %rax
        jz      .Lnth_go_on_here
        movq    %rax, %rsp
        RESTORE
        notrack call *target_at(%rbp)
        SAVE
        leaq    -frame_rest(%rbp), %rsp
        andq    $-16, %rsp
        call    *nth_growth_leave@GOTPCREL(%rip)
        RESTORE
        .cfi_remember_state
        leave
        .cfi_def_cfa %rsp, 16
        .cfi_restore %rbp
        ret

        /* The target runs where the stub was called. The stub's call has no return: a shadow stack is told of that. The
         * target lies in the red zone when it is read, which signals leave alone. */
.Lnth_go_on_here:
        .cfi_restore_state
        rdsspq  %rax                    /* leaves 0 where there is no shadow stack */
        testq   %rax, %rax
        jz      1f
        movl    $1, %eax
        incsspq %rax
1:      movq    target_at(%rbp), %rax
        movq    %rax, 8(%rbp)
        RESTORE
        leave
        .cfi_def_cfa %rsp, 16
        .cfi_restore %rbp
        leaq    8(%rsp), %rsp
        .cfi_def_cfa_offset 8
        notrack jmp *-8(%rsp)
        .cfi_endproc
        .size   __morestack, . - __morestack

        .type   nth_growth_start, @function
nth_growth_start:
        .cfi_startproc
        endbr64
        leaq    nth_growth_program(%rip), %rdi
        movq    $nth_stack_limits@tpoff, %rsi
        jmp     *nth_growth_register@GOTPCREL(%rip)
        .cfi_endproc
        .size   nth_growth_start, . - nth_growth_start

/* The personality of __morestack: libnth's (src/growth/unwind.cpp), with two functions more. Who unwinds has them. */
        .weak   _Unwind_GetCFA
        .weak   _Unwind_GetGR
        .type   nth_call_personality, @function
nth_call_personality:
        .cfi_startproc
        endbr64
        pushq   _Unwind_GetGR@GOTPCREL(%rip)
        .cfi_def_cfa_offset 16
        movq    _Unwind_GetCFA@GOTPCREL(%rip), %r9
        call    *nth_growth_personality@GOTPCREL(%rip)
        addq    $8, %rsp
        .cfi_def_cfa_offset 8
        ret
        .cfi_endproc
        .size   nth_call_personality, . - nth_call_personality

/* What the program calls in place of functions of the C library (src/growth/signals.cpp, loaded.cpp). */
        .macro IN_PLACE name, target
        .type   \name, @function
\name:
        .cfi_startproc
        endbr64
        jmp     *\target@GOTPCREL(%rip)
        .cfi_endproc
        .size   \name, . - \name
        .endm
        IN_PLACE nth_call_sigaction, nth_growth_sigaction
        IN_PLACE nth_call_signal, nth_growth_signal
        IN_PLACE nth_call_sysv_signal, nth_growth_sysv_signal
        IN_PLACE nth_call_sigset, nth_growth_sigset

        IN_PLACE nth_call_dlsym, nth_growth_dlsym

        /* Functions that were loaded while the program runs, one for each stub of NTH_STUB_LOADED. */
        .section .bss.nth_growth_loaded, "aw", @nobits
        .p2align 5
        .type   nth_growth_loaded, @object
        .size   nth_growth_loaded, 8 * 128
nth_growth_loaded:
        .zero   8 * 128

        .section .nth_stubs, "ax", @progbits
/* Where a static program begins: its C library calls functions before it has set the thread pointer, and stubs read
 * by that. Until then it leads to words of 0. rdx and rsp are the kernel's for _start. */
        .weak   _start
        .type   nth_growth_entry, @function
nth_growth_entry:
        .cfi_startproc
        .cfi_undefined %rip
        endbr64
        movq    %rdx, %r12
        leaq    nth_growth_early(%rip), %rsi
        subq    $nth_stack_limits@tpoff, %rsi
        movl    $0x1002, %edi           /* ARCH_SET_FS */
        movl    $158, %eax              /* arch_prctl */
        syscall
        movq    %r12, %rdx
        jmp     _start
        .cfi_endproc
        .size   nth_growth_entry, . - nth_growth_entry

        .section .bss.nth_growth_early, "aw", @nobits
        .p2align 5
        .type   nth_growth_early, @object
        .size   nth_growth_early, 32
nth_growth_early:
        .zero   32

        /* Before constructors of programs, which may start the run-time; they have no priority, or one above 100. */
        .section .init_array.00102, "aw", @init_array
        .p2align 3
        .quad   nth_growth_start

        /* One word for each threshold: NTH_STUB_LIMITS. 0: all have room. */
        .section .tbss, "awT", @nobits
        .p2align 5
        .type   nth_stack_limits, @object
        .size   nth_stack_limits, 32
nth_stack_limits:
        .zero   32

        /* It can do with indirect-branch tracking and shadow stacks. */
        .section .note.gnu.property, "a"
        .p2align 3
        .long   4, 16, 5
        .asciz  "GNU"
        .long   0xc0000002, 4, 3, 0

        .section .note.GNU-stack, "", @progbits
