// Functions written for snippets_test.cpp, each showing one thing. With SHARED as in a library.
#define FUNCTION(name) .p2align 4; .globl name; .hidden name; .type name, @function; name:
#define END(name) .size name, . - name
// Jump tables of distances lie among the constants, END_TABLE leads back to the code.
#define TABLE(name) .section .rodata; .p2align 2; name:
#define END_TABLE .text
// The last two cases of a switch: one calls, the other does not.
#define LAST_CASES 1: push %rax; call callee; pop %rax; 9: ret

.text

FUNCTION(callee)
  ret
END(callee)

FUNCTION(other_callee)
  sub $24, %rsp
  add $24, %rsp
  ret
END(other_callee)

FUNCTION(plain)
  push %rbp
  mov %rsp, %rbp
  sub $0x30, %rsp
  call callee
  leave
  ret
END(plain)

FUNCTION(frame_by_lea)
  push %rbx
  lea -0x40(%rsp), %rsp
  call callee
  lea 0x40(%rsp), %rsp
  pop %rbx
  ret
END(frame_by_lea)

FUNCTION(frame_by_register)
  mov $0x12340, %eax
  sub %rax, %rsp
  call callee
  add $0x12340, %rsp
  ret
END(frame_by_register)

FUNCTION(by_enter)
  enter $32, $0
  call callee
  leave
  ret
END(by_enter)

FUNCTION(pushes_of_all_sizes)
  pushf
  push $1
  push $0x12345
  pushw $3
  push 8(%rdi)
  call callee
  add $34, %rsp
  ret
END(pushes_of_all_sizes)

FUNCTION(differing_ways)
  test %edi, %edi
  je 1f
  push %rax
  call callee
  pop %rax
1:
  sub $8, %rsp
  call callee
  add $8, %rsp
  ret
END(differing_ways)

// The depth differs where two ways meet.
FUNCTION(meets_at_two_depths)
  mov %rsp, %r8
  test %edi, %edi
  je 1f
  push %rax
  push %rax
1:
  call callee
  mov %r8, %rsp
  lea 8(%rsp), %rsp
  jmp *-8(%rsp)
END(meets_at_two_depths)

FUNCTION(realigns)
  lea 8(%rsp), %r10
  and $-32, %rsp
  push -8(%r10)
  push %rbp
  mov %rsp, %rbp
  push %r10
  sub $0x48, %rsp
  call callee
  mov -8(%rbp), %r10
  leave
  lea -8(%r10), %rsp
  ret
END(realigns)

/* and $-256,%rsp as compilers write it. */
FUNCTION(realigns_by_a_byte)
  push %rbp
  mov %rsp, %rbp
  movb $0, %spl
  sub $512, %rsp
  call callee
  leave
  ret
END(realigns_by_a_byte)

FUNCTION(allocates)
  push %rbp
  mov %rsp, %rbp
  sub %rdi, %rsp
  call callee
  leave
  ret
END(allocates)

FUNCTION(allocates_a_little)
  push %rbp
  mov %rsp, %rbp
  cmp $100, %rdi
  ja 1f
  add $15, %rdi
  and $-16, %rdi
  sub %rdi, %rsp
  call callee
1:
  leave
  ret
END(allocates_a_little)

FUNCTION(grows_in_loop)
  mov %rsp, %rbp
1:
  push %rax
  dec %edi
  jne 1b
  mov %rbp, %rsp
  ret
END(grows_in_loop)

FUNCTION(probes_loop)
  lea -0x5000(%rsp), %r11
1:
  sub $0x1000, %rsp
  orq $0, (%rsp)
  cmp %r11, %rsp
  jne 1b
  sub $0x10, %rsp
  call callee
  add $0x5010, %rsp
  ret
END(probes_loop)

FUNCTION(switches_stack)
  mov %rdi, %rsp
  push %rax
  call callee
  ret
END(switches_stack)

FUNCTION(leaves_like_longjmp)
  mov 8(%rdi), %rdx
  mov (%rdi), %rsp
  jmp *%rdx
END(leaves_like_longjmp)

FUNCTION(undecodable)
  .byte 0x06
END(undecodable)

FUNCTION(red_zone)
  mov %rdi, -0x28(%rsp)
  mov -0x28(%rsp), %rax
  ret
END(red_zone)

FUNCTION(red_zone_escapes)
  lea -0x20(%rsp), %rax
  mov %rdi, (%rax)
  ret
END(red_zone_escapes)

FUNCTION(tail_call)
  push %rbx
  pop %rbx
  jmp other_callee
END(tail_call)

FUNCTION(conditional_tail_call)
  test %edi, %edi
  jne other_callee
  ret
END(conditional_tail_call)

FUNCTION(tail_call_with_arguments)
  push %rdi
  push %rsi
  jmp other_callee
END(tail_call_with_arguments)

FUNCTION(falls_into_next)
  push %rax
  pop %rax
END(falls_into_next)
.globl next_one; .hidden next_one; .type next_one, @function
next_one:
  ret
END(next_one)

FUNCTION(own_loop)
  dec %edi
  jne own_loop
  ret
END(own_loop)

#include "snippets_pointers.S"

FUNCTION(where_am_i)
  call 1f
1:
  pop %rax
  ret
END(where_am_i)

FUNCTION(ends_program)
  sub $8, %rsp
  mov $60, %eax
  syscall
1:
  hlt
END(ends_program)

FUNCTION(ends_program_for_another)
  sub $0x18, %rsp
  call ends_program
END(ends_program_for_another)

FUNCTION(may_end_program)
  sub $8, %rsp
  test %edi, %edi
  je 1f
  call callee
  add $8, %rsp
  ret
1:
  push %rax
  call callee
  call ends_program_for_another
  // Never reached: what follows has a frame of its own.
  sub $0x1000, %rsp
  call callee
END(may_end_program)

FUNCTION(jumps_to_cold)
  push %rbx
  test %edi, %edi
  je jumps_to_cold.cold
1:
  pop %rbx
  ret
END(jumps_to_cold)
.globl back_from_cold; .hidden back_from_cold
.set back_from_cold, 1b

.section .text.unlikely, "ax"
.type jumps_to_cold.cold, @function
jumps_to_cold.cold:
  sub $0x40, %rsp
  call callee
  add $0x40, %rsp
  jmp back_from_cold
END(jumps_to_cold.cold)
.text

FUNCTION(setjmp)
  ret
END(setjmp)

FUNCTION(calls_setjmp)
  sub $8, %rsp
  call setjmp
  add $8, %rsp
  ret
END(calls_setjmp)

.weak nowhere
FUNCTION(calls_weak)
  sub $8, %rsp
#ifndef SHARED
  call nowhere
#else
  call callee
#endif
  add $8, %rsp
  ret
END(calls_weak)

FUNCTION(relaxed_call)
  sub $8, %rsp
  .byte 0x67
  call callee
  add $8, %rsp
  ret
END(relaxed_call)

FUNCTION(saves_on_stack)
  push %rbp
  mov %rsp, %rbp
  sub $0x20, %rsp
  mov %rsp, -8(%rbp)
  sub %rdi, %rsp
  call callee
  mov -8(%rbp), %rsp
  call other_callee
  leave
  ret
END(saves_on_stack)

// Through a pointer, but what follows has another frame, says the unwind table: the call does not return.
FUNCTION(unwind_table_tells_of_end)
  .cfi_startproc
  test %esi, %esi
  jne 2f
  sub $0x18, %rsp
  .cfi_def_cfa_offset 32
  call *%rdi
  .cfi_def_cfa_offset 8
2:
  sub $0x28, %rsp
  .cfi_def_cfa_offset 48
  call callee
  add $0x28, %rsp
  .cfi_def_cfa_offset 8
  ret
  .cfi_endproc
END(unwind_table_tells_of_end)

// A register that calls may change holds nothing after one.
FUNCTION(trusts_no_callee)
  mov %rsp, %rcx
  sub $0x20, %rsp
  call callee
  mov %rcx, %rsp
  push %rax
  pop %rax
  ret
END(trusts_no_callee)

FUNCTION(keeps_in_kept_register)
  push %rbx
  mov %rsp, %rbx
  sub $0x20, %rsp
  call callee
  mov %rbx, %rsp
  call other_callee
  pop %rbx
  ret
END(keeps_in_kept_register)

FUNCTION(returns_to_pushed)
  lea callee(%rip), %rax
  push %rax
  ret
END(returns_to_pushed)

.section .data.rel.ro, "aw"
.p2align 3
functions:
  .quad callee, other_callee, plain
.data
.p2align 3
slot:
  .quad callee
.globl slot; .hidden slot
.globl functions; .hidden functions

.section .note.GNU-stack, "", @progbits
