// A part of snippets.S: jumps and calls through tables and pointers.
// The switch of position-independent code.
FUNCTION(switch_relative)
  cmp $3, %edi
  ja 9f
  mov %edi, %edi
  lea relative_table(%rip), %rdx
  movslq (%rdx,%rdi,4), %rax
  add %rdx, %rax
  notrack jmp *%rax
1:
  push %rax
  call callee
  pop %rax
2:
  ret
3:
  sub $0x88, %rsp
  call other_callee
  add $0x88, %rsp
9:
  ret
TABLE(relative_table)
  .long 1b - relative_table, 2b - relative_table, 3b - relative_table, 9b - relative_table
// What lies behind it is no part of it.
  .long 1b + 1 - relative_table, 2b - 3 - relative_table
END_TABLE
END(switch_relative)

// As compiled without optimisation: the index is compared in memory.
FUNCTION(switch_in_memory)
  push %rbp
  mov %rsp, %rbp
  mov %edi, -0x14(%rbp)
  cmpl $1, -0x14(%rbp)
  ja 9f
  mov -0x14(%rbp), %eax
  lea 0(,%rax,4), %rdx
  lea memory_table(%rip), %rax
  mov (%rdx,%rax,1), %eax
  cltq
  lea memory_table(%rip), %rdx
  add %rdx, %rax
  jmp *%rax
1:
  push %rax
  push %rax
  call callee
  add $16, %rsp
9:
  pop %rbp
  ret
TABLE(memory_table)
  .long 1b - memory_table, 9b - memory_table, 0x7ffff000
END_TABLE
END(switch_in_memory)

// A switch on a byte behind a pointer, compared there.
FUNCTION(switch_on_field)
  cmpb $1, 4(%rdi)
  ja 9f
  movzbl 4(%rdi), %eax
  lea field_table(%rip), %rdx
  movslq (%rdx,%rax,4), %rax
  add %rdx, %rax
  jmp *%rax
  LAST_CASES
TABLE(field_table)
  .long 1b - field_table, 9b - field_table, 0x7ffff000
END_TABLE
END(switch_on_field)

// Without a comparison: a mask, more values than entries.
FUNCTION(switch_masked)
  and $7, %edi
  lea masked_table(%rip), %rdx
  movslq (%rdx,%rdi,4), %rax
  add %rdx, %rax
  jmp *%rax
  LAST_CASES
TABLE(masked_table)
  .long 1b - masked_table, 9b - masked_table, 0x7ffff000
END_TABLE
END(switch_masked)

FUNCTION(switch_absolute)
  cmp $2, %rdi
  ja 9f
#ifdef SHARED
  lea absolute_table(%rip), %rdx
  jmp *(%rdx,%rdi,8)
#else
  jmp *absolute_table(,%rdi,8)
#endif
1:
  sub $0x18, %rsp
  call callee
  add $0x18, %rsp
9:
  ret
.section .data.rel.ro, "aw"
.p2align 3
absolute_table:
  .quad 1b, 9b, 1b
.text
END(switch_absolute)

// Labels whose table is reached in a way that is not seen.
FUNCTION(computed_goto)
  push %rbx
  call callee
  jmp *%rax
1:
  push %rcx
  call other_callee
  pop %rcx
2:
  pop %rbx
  ret
.section .data.rel.ro, "aw"
  .quad 1b, 2b
.text
END(computed_goto)

FUNCTION(unknown_jump)
  push %rbx
  add %rsi, %rdi
  jmp *%rdi
END(unknown_jump)

FUNCTION(into_straight_code)
  and $3, %edi
  lea 1f(%rip), %rax
  lea (%rax,%rdi,4), %rax
  jmp *%rax
  .p2align 2
1:
  .rept 3
  push %rax
  pop %rax
  nop
  nop
  .endr
  ret
END(into_straight_code)

FUNCTION(calls_slot)
  sub $8, %rsp
  call *slot(%rip)
  add $8, %rsp
  jmp *slot(%rip)
END(calls_slot)

FUNCTION(calls_table)
  sub $8, %rsp
  cmp $2, %edi
  ja 1f
  mov %edi, %edi
  lea functions(%rip), %rax
  call *(%rax,%rdi,8)
1:
  add $8, %rsp
  ret
END(calls_table)

FUNCTION(calls_virtual)
  sub $8, %rsp
  mov (%rdi), %rax
  mov 0x18(%rax), %rcx
  mov %rcx, %rdx
  call *%rdx
  mov (%rbx), %rax
  call *0x20(%rax)
  mov 0x30(%rbx), %rax
  call *%rax
  call *%rsi
  add $8, %rsp
  ret
END(calls_virtual)

FUNCTION(calls_own)
  sub $8, %rsp
  lea callee(%rip), %rax
  call *%rax
  add $8, %rsp
  ret
END(calls_own)

FUNCTION(takes_addresses)
  lea other_callee(%rip), %rax
  mov %rax, (%rdi)
#ifndef SHARED
  mov $callee, %eax
  movq $plain, (%rdi)
#else
  lea callee(%rip), %rax
  lea plain(%rip), %rax
#endif
  ret
END(takes_addresses)
