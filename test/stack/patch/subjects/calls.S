/* Calls and jumps in all their forms. */
        .text
        .globl  entry
        .type   entry, @function
entry:
direct_call:
        call    entry
relaxed_call:
        .byte   0x67
        call    entry
bnd_call:
        bnd call entry
slot_call:
        call    *slot(%rip)
notrack_call:
        notrack call *slot(%rip)
register_call:
        call    *%rax
memory_call:
        call    *8(%rax)
indexed_call:
        call    *slot(, %rax, 8)
fixed_slot_call:
        call    *slot
no_call:
        movl    $1, %eax
long_branch:
        .byte   0x0f, 0x87
        .long   entry - . - 4
short_jump:
        jmp     short_jump
slot_jump:
        jmp     *slot(%rip)
direct_jump:
        .byte   0xe9
        .long   entry - . - 4
        .size   entry, . - entry
        .type   other, @function
other:  ret
        .size   other, . - other
        .section nth_code, "ax", @progbits
own:    call    entry
        .data
slot:   .quad   entry
        .section .note.GNU-stack, "", @progbits
