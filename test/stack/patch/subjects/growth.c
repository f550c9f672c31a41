/* In place of libnth: what __morestack calls. With NTH_TEST_LIMIT in the environment no stub finds room, each is counted and
 * jumps on to its target; else none may come here. In static programs the C library's calls, too, lead to stubs: what a stub
 * comes to calls none of it, but what the compiler makes of memcpy of a word. */
#include "nth/growth.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const nth_growth_header *tables;
static int counts;
static unsigned long entered;

static uint64_t *limit_words(long limits) {
  char *thread;
  __asm__("movq %%fs:0, %0" : "=r"(thread));
  return (uint64_t *)(thread + limits);
}

static void nth_growth_tell(void) { fprintf(stderr, "%lu\n", entered); }

void nth_growth_register(const nth_growth_header *program, long limits) {
  if (memcmp(program->magic, NTH_GROWTH_MAGIC, 8) != 0)
    abort();
  tables = program;
  counts = getenv("NTH_TEST_LIMIT") != NULL;
  if (program->filled && counts) {
    atexit(nth_growth_tell);
    for (uint32_t i = 0; i < program->limits; ++i)
      limit_words(limits)[i] = ~(uint64_t)0;
  }
}

/* The frame of __morestack (src/growth/x86_64/morestack.S): the address behind its call is at 8, the target goes to -80. */
__attribute__((used)) static void *enter_frame(const nth_growth_header *program, void *frame) {
  uintptr_t returns;
  memcpy(&returns, (char *)frame + 8, sizeof returns);
  const char *base = (const char *)program;
  const uintptr_t stub = (returns - 1 - (uintptr_t)(base + program->pool)) / NTH_STUB_SIZE;
  if (program != tables || stub >= program->stubs || !counts)
    abort();
  const nth_growth_stub *each = (const nth_growth_stub *)(base + program->stub_at) + stub;
  const char *target = base + each->target;
  memcpy((char *)frame - 80, &target, sizeof target);
  ++entered;
  return NULL;
}

/* It may change no more registers than rax, rcx, rdx and rdi. */
__asm__(".text\n.globl nth_growth_enter\n.type nth_growth_enter, @function\nnth_growth_enter:\n\t"
        "pushq %rsi\n\tpushq %r8\n\tpushq %r9\n\tpushq %r10\n\tpushq %r11\n\t"
        "movq %rbp, %rsi\n\tcall enter_frame\n\t"
        "popq %r11\n\tpopq %r10\n\tpopq %r9\n\tpopq %r8\n\tpopq %rsi\n\tret\n"
        ".size nth_growth_enter, . - nth_growth_enter\n");

/* Called by nobody here: the subjects set no handlers and load nothing. */
__asm__(".globl nth_growth_sigaction, nth_growth_signal, nth_growth_sysv_signal, nth_growth_sigset, "
        "nth_growth_dlsym\n"
        "nth_growth_sigaction:\nnth_growth_signal:\nnth_growth_sysv_signal:\nnth_growth_sigset:\nnth_growth_"
        "dlsym:\n\tud2\n");

void nth_growth_leave(void) { abort(); }
int nth_growth_personality(int version, int actions, uint64_t exception_class, void *exception, void *context,
                           uintptr_t (*get_cfa)(void *), uintptr_t (*get_register)(void *, int)) {
  (void)get_cfa, (void)get_register;
  (void)version, (void)actions, (void)exception_class, (void)exception, (void)context;
  abort();
}
