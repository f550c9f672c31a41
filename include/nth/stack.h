/* What nth-stack, which tells how much stack a function may need, cannot know of a program by itself, said in its source.
 * Each of these stands inside of the body of the function that it is about, as a statement, and makes no code: it leaves
 * a record in the section .nth_stack of the program, which is not loaded (strip -g keeps it). The same can be said
 * in a file, of any function of any library too; doc/stack-notes.md has both.
 *
 * What is said is believed, and each need that rests on it says so ("assumed"). Numbers are constant expressions.
 *
 * A record belongs to the function in whose code it lies, if that is the one whose source it stands in, or a copy or
 * part that the compiler made of it. Where the compiler has put the function into another one, the record is left out
 * there, and nth-stack names those that belong to no function at all: __attribute__((noinline)) helps. NTH_STACK_BLOCKS
 * alone holds for whatever function its code has become part of.
 * With the linker "gold" and --gc-sections the records' own sections cannot be linked; GNU ld and lld can.
 */
#ifndef NTH_STACK_H
#define NTH_STACK_H

/* At most n activations of this function are on one stack at a time (recursion), counting calls of it that the compiler
 * has made jumps or loops as activations inside of the one that they come from. n >= 1. */
#define NTH_STACK_DEPTH(n)                                                                                   \
  do {                                                                                                       \
    NTH_STACK_CHECK_((n) >= 1, "at least one activation");                                                   \
    NTH_STACK_NOTE_(3, n, "");                                                                               \
  } while (0)

/* The function needs at most n bytes of stack, the return address and all that it calls included. What it calls is not
 * looked at then. n >= 8. */
#define NTH_STACK_NEED(n)                                                                                    \
  do {                                                                                                       \
    NTH_STACK_CHECK_((n) >= 8, "the return address takes 8 bytes");                                          \
    NTH_STACK_NOTE_(1, n, "");                                                                               \
  } while (0)

/* The function's own frame takes at most n bytes, the return address included: where it holds an array of variable
 * length or memory from alloca, or grows in a loop. n >= 8. */
#define NTH_STACK_FRAME(n)                                                                                   \
  do {                                                                                                       \
    NTH_STACK_CHECK_((n) >= 8, "the return address takes 8 bytes");                                          \
    NTH_STACK_NOTE_(2, n, "");                                                                               \
  } while (0)

/* The calls that the function makes through pointers, those of functions that the compiler puts into it included, reach
 * only the functions that are named. They are found by name, as it is written here: where several functions of the
 * program may be meant (static ones of one name, overloads, other scopes), all of them count. The first eight
 * are checked to be there. */
#define NTH_STACK_TARGETS(...)                                                                               \
  do {                                                                                                       \
    NTH_STACK_NOTE_(4, 0, NTH_STACK_TEXT_(__VA_ARGS__));                                                     \
    NTH_STACK_THERE_(__VA_ARGS__, nth_stack_nothing_, nth_stack_nothing_, nth_stack_nothing_,                \
                     nth_stack_nothing_, nth_stack_nothing_, nth_stack_nothing_, nth_stack_nothing_, 0);     \
  } while (0)

/* The function may suspend its thread by other ways than calls of nth. */
#define NTH_STACK_BLOCKS NTH_STACK_NOTE_(6, 0, "")

/* ---- How ------------------------------------------------------------------------------------ */

#define NTH_STACK_TEXT_(...) #__VA_ARGS__
#define NTH_STACK_THERE_(a, b, c, d, e, f, g, h, ...)                                                        \
  ((void)sizeof(&a), (void)sizeof(&b), (void)sizeof(&c), (void)sizeof(&d), (void)sizeof(&e),                 \
   (void)sizeof(&f), (void)sizeof(&g), (void)sizeof(&h))

extern const char nth_stack_nothing_; /* is nowhere; stands for names that are not given */

#ifdef __cplusplus
#define NTH_STACK_CHECK_(holds, text) static_assert(holds, text)
#define NTH_STACK_NUMBER_(n) static_cast<long long>(n)
#else
#define NTH_STACK_CHECK_(holds, text) _Static_assert(holds, text)
#define NTH_STACK_NUMBER_(n) ((long long)(n))
#endif

/* A record is seven words: a mark and the kind, the address at hand, the number, and where function, file, line
 * and names are. Its section goes with the code: "?" joins the group of an inline function that several files have,
 * "o" has the linker drop it with a function that nothing calls. tools/stack/notes/section.cpp reads it. */
#if defined(__x86_64__) && defined(__ELF__) && defined(__GNUC__)
#define NTH_STACK_NOTE_(kind, number, names)                                                                 \
  __asm__ volatile(".Lnth_stack_%=:\n\t"                                                                     \
                   ".pushsection .nth_stack,\"?o\",@progbits,.Lnth_stack_%=\n\t"                             \
                   ".balign 8\n\t"                                                                           \
                   ".quad 0x6b7473687400 + %c0, .Lnth_stack_%=, %c1, %c2, %c3, %c4, %c5\n\t"                 \
                   ".popsection"                                                                             \
                   :                                                                                         \
                   : "i"(kind), "i"(NTH_STACK_NUMBER_(number)), "i"(__func__), "i"(__FILE__), "i"(__LINE__), \
                     "i"(names))
#else
#define NTH_STACK_NOTE_(kind, number, names) ((void)0)
#endif

#endif /* NTH_STACK_H */
