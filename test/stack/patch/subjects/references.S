/* One function for each kind of place that holds an address. FIXED: addresses are fixed. */
        .macro FN name
        .text
        .p2align 4
        .globl  \name
        .type   \name, @function
\name:
        .cfi_startproc
        nop
        ret
        .cfi_endproc
        .size   \name, . - \name
        .endm

        /* The same, known in this file alone: the assembler resolves what it can by itself. */
        .macro LOCAL name
        .text
        .p2align 4
        .type   \name, @function
\name:
        .cfi_startproc
        nop
        ret
        .cfi_endproc
        .size   \name, . - \name
        .endm

        FN      by_lea
        LOCAL   by_local_lea
        FN      by_offset_table
        FN      by_word
        LOCAL   by_local_word
        FN      by_constant_word
        FN      by_distance
        LOCAL   by_local_distance
        LOCAL   by_last_distance
        LOCAL   by_distance_from_itself
        FN      by_slot
        FN      by_call_alone
        FN      by_jump_alone
        FN      by_branch_alone
        FN      by_initializer_alone
        FN      read_as_data
        FN      used_in_the_middle
        FN      word_in_the_middle
        LOCAL   near_what_is_no_code
        LOCAL   not_by_constant
        FN      by_two
#ifdef FIXED
        FN      by_constant
        FN      by_long_constant
        FN      by_push
        FN      by_compare
        FN      by_store
        FN      by_narrow_word
        LOCAL   by_local_constant
#endif

        .text
        .p2align 4
        .globl  entry
        .type   entry, @function
entry:
        .cfi_startproc
        leaq    by_lea(%rip), %rax
        leaq    by_local_lea(%rip), %rcx
        movq    by_offset_table@GOTPCREL(%rip), %rdx
        leaq    distances(%rip), %rbx
        movslq  (%rbx, %rax, 4), %rax
        addq    %rbx, %rax
        call    *slot(%rip)
        call    by_call_alone
        movl    read_as_data(%rip), %eax
        leaq    used_in_the_middle + 1(%rip), %rax
        leaq    by_two(%rip), %rax
#ifdef FIXED
        movl    $by_constant, %eax
        movabsq $by_long_constant, %rax
        pushq   $by_push
        cmpq    $by_compare, %rax
        movq    $by_store, slot(%rip)
        movl    $by_local_constant, %eax
#endif
        je      by_branch_alone
        jmp     by_jump_alone
        .cfi_endproc
        .size   entry, . - entry

        /* What can't be decoded, and before that a jump past a prefix, which can. */
        .p2align 4
        .globl  unclear
        .type   unclear, @function
unclear:
        .cfi_startproc
        je      1f + 1
1:      lock incl (%rax)
        jmp     2f
        .byte   0x06
        .long   near_what_is_no_code - . - 4
2:      ret
        .cfi_endproc
        .size   unclear, . - unclear

        .globl  past_prefix
        .type   past_prefix, @function
past_prefix:
        .cfi_startproc
        je      1f + 1
1:      lock incl (%rax)
        .byte   0x48, 0xb8              /* movabs, whose constant looks like a distance */
        .long   not_by_constant - . - 4
        .long   0x11223344
        ret
        .cfi_endproc
        .size   past_prefix, . - past_prefix

        .data
        .p2align 3
slot:   .quad   by_slot
        .quad   by_word
        .quad   by_local_word
        .quad   by_two
        .quad   word_in_the_middle + 2
#ifdef FIXED
        .long   by_narrow_word
        .long   0x1000
#endif
        .section .data.rel.ro, "aw"
        .p2align 3
        .quad   by_constant_word
        .section .rodata
        .p2align 2
before: .long   1, 2
distances:
        .long   by_distance - distances
        .long   by_local_distance - distances
        .long   entry - distances
        .long   by_last_distance - distances
        .long   7
alone:  .long   by_distance_from_itself - .
        .section .init_array, "aw", @init_array
        .quad   by_initializer_alone
        .section .note.GNU-stack, "", @progbits
