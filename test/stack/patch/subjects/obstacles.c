/* A function whose code is read, and a jump that is too short. */
#include <stdio.h>

__asm__(".text\n"
        ".globl read_as_data\n.type read_as_data, @function\n"
        "read_as_data: ret\n.size read_as_data, . - read_as_data\n"
        ".globl reads\n.type reads, @function\n"
        "reads: movzbl read_as_data(%rip), %eax\nret\n.size reads, . - reads\n"
        ".type short_target, @function\n"
        "short_target: ret\n.size short_target, . - short_target\n"
        ".type jumps, @function\n"
        "jumps:\nshort_jump: .byte 0xeb, short_target - . - 1\n.size jumps, . - jumps\n");

int reads(void);

int main(void) {
  printf("%d\n", reads());
  return 0;
}
