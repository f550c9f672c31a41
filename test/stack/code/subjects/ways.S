// Functions written for ways_test.cpp: ways through code that are easily missed. With SHARED as in a library.
#define FUNCTION(name) .p2align 4; .globl name; .hidden name; .type name, @function; name:
#define END(name) .size name, . - name

.text

FUNCTION(callee)
  ret
END(callee)

FUNCTION(other_callee)
  ret
END(other_callee)

// A table without a comparison; a case lies behind an entry that leads to the function's end, as clang has it.
FUNCTION(table_with_hole)
  lea hole_table(%rip), %rdx
  mov %edi, %edi
  movslq (%rdx,%rdi,4), %rax
  add %rdx, %rax
  jmp *%rax
1:
  ret
2:
  sub $0x88, %rsp
  call callee
  add $0x88, %rsp
  ret
3:
.section .rodata
.p2align 2
hole_table:
  .long 1b - hole_table, 3b - hole_table, other_callee - hole_table, 2b - hole_table
.text
END(table_with_hole)

FUNCTION(absolute_table_with_hole)
  lea absolute_hole_table(%rip), %rdx
  mov %edi, %edi
  jmp *(%rdx,%rdi,8)
1:
  ret
2:
  sub $0x88, %rsp
  call callee
  add $0x88, %rsp
  ret
3:
.section .data.rel.ro, "aw"
.p2align 3
absolute_hole_table:
  .quad 1b, 3b, other_callee, 2b
.text
END(absolute_table_with_hole)

FUNCTION(labels_on_stack)
  lea 1f(%rip), %rax
  mov %rax, -16(%rsp)
  lea 2f(%rip), %rax
  mov %rax, -8(%rsp)
  and $1, %edi
  jmp *-16(%rsp,%rdi,8)
1:
  ret
2:
  sub $0x88, %rsp
  call callee
  add $0x88, %rsp
  ret
END(labels_on_stack)

#ifndef SHARED
FUNCTION(labels_as_immediates)
  movq $1f, -16(%rsp)
  movq $2f, -8(%rsp)
  and $1, %edi
  jmp *-16(%rsp,%rdi,8)
1:
  ret
2:
  sub $0x88, %rsp
  call callee
  add $0x88, %rsp
  ret
END(labels_as_immediates)
#endif

// Through a word that other code stored.
FUNCTION(label_behind_pointer)
  lea 1f(%rip), %rax
  mov %rax, (%rsi)
  jmp *8(%rdi)
1:
  sub $0x88, %rsp
  call callee
  add $0x88, %rsp
  ret
END(label_behind_pointer)

// As -fipa-ra allows: rdx is kept across a call of a function that is known not to change it.
FUNCTION(table_across_call)
  lea across_table(%rip), %rdx
  call callee
  and $1, %edi
  movslq (%rdx,%rdi,4), %rax
  add %rdx, %rax
  jmp *%rax
1:
  ret
2:
  sub $0x88, %rsp
  call other_callee
  add $0x88, %rsp
  ret
.section .rodata
.p2align 2
across_table:
  .long 1b - across_table, 2b - across_table
.text
END(table_across_call)

// At a distance from a label: nobody knows where.
FUNCTION(distance_from_label)
  lea 1f(%rip), %r10
  call callee
  add %rdi, %r10
  jmp *%r10
1:
  nop
  nop
  ret
END(distance_from_label)

FUNCTION(first_entry)
  sub $8, %rsp
  call callee
.globl second_entry
.hidden second_entry
.type second_entry, @function
second_entry:
  sub $0x100, %rsp
  call other_callee
  add $0x108, %rsp
  ret
END(second_entry)
END(first_entry)

FUNCTION(pops_two)
  ret $16
END(pops_two)

FUNCTION(pops_two_for_another)
  jmp pops_two
END(pops_two_for_another)

FUNCTION(pushes_two)
  push %rdi
  push %rsi
  call pops_two_for_another
  sub $8, %rsp
  call callee
  add $8, %rsp
  ret
END(pushes_two)

FUNCTION(pops_for_all)
  ret $8
END(pops_for_all)

FUNCTION(hands_on_what_pops)
  lea pops_for_all(%rip), %rax
  ret
END(hands_on_what_pops)

FUNCTION(pops_at_times)
  test %edi, %edi
  je 1f
  ret $8
1:
  ret
END(pops_at_times)

// Not what its name says.
FUNCTION(siglongjmp)
  ret
END(siglongjmp)

FUNCTION(calls_by_bad_name)
  sub $8, %rsp
  call siglongjmp
  sub $0x100, %rsp
  call callee
  add $0x108, %rsp
  ret
END(calls_by_bad_name)

.section .note.GNU-stack, "", @progbits
