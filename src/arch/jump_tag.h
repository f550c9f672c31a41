/* What lies where glibc keeps mask_was_saved, byte 64 of a jmp_buf, whose registers are not hidden behind the process's
 * guard: cluster/x86_64/setjmp.S fills such ones. Its lowest bit says whether the signal mask was saved. */
#ifndef NTH_JUMP_TAG_H
#define NTH_JUMP_TAG_H
#define NTH_JUMP_TAG 0x6e746800
#endif
