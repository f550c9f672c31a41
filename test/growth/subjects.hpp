// Functions that are called through stubs (pool.S), on stacks of a few hundred bytes: optimised in every build.
#pragma once

#include "nth/growth.h"

#include <csetjmp>
#include <cstdint>
#include <ucontext.h>

extern "C" {

extern nth_growth_header nth_growth_program;

// machine.S
std::uintptr_t here();
std::uintptr_t call_at(std::uintptr_t rsp, void (*function)(), void *argument);
long call_words(long (*function)(long n, ...), long n, const long *words);
void call_registers(std::uintptr_t rsp, void (*function)());

std::uintptr_t stub_here();
std::uintptr_t stub_less();
std::uintptr_t stub_here_large();
std::uintptr_t stub_guarded();
void stub_registers();

// n calls deep, one below the other; the lowest does what `deepest` says.
struct descent {
  void (*deepest)(descent *);
  std::uintptr_t lowest_rsp;
  long turns;     // nth_yield at each level on the way back, so many times
  nth_desc *self; // what nth_self says, or null when it has changed on the way
};
long down(long n, descent *d);
long stub_down(long n, descent *d);
long self_down(long n, descent *d);
long stub_self(long n, descent *d);
void wait_on_segment(descent *d);
void stub_wait(descent *d);

// The first n words, with weights 1, 2, … + words[1] * 2 + …
long weigh(long n, ...);
long stub_weigh(long n, ...);
long stub_weigh_entry(long n, ...);

struct page_of_longs {
  long word[512];
};
page_of_longs page(page_of_longs a);
page_of_longs stub_page(page_of_longs a);
long double wide(long a, long double b, int c, int d, int e, int f, int g, long double h, int i);
long double stub_wide(long a, long double b, int c, int d, int e, int f, int g, long double h, int i);

// Exceptions and longjmp: across `levels` segments.
void throw_it(int value);
void stub_throw(int value);
void through(int levels, int value);
void stub_through(int levels, int value);
void jump(jmp_buf *to, long levels);
void stub_jump(jmp_buf *to, long levels);
[[noreturn]] void stub_longjmp(jmp_buf to, int value);
[[noreturn]] void stub_siglongjmp(sigjmp_buf to, int value);
[[noreturn]] void stub__longjmp(jmp_buf to, int value);
[[noreturn]] void stub___longjmp_chk(jmp_buf to, int value);
int stub_setcontext(const ucontext_t *to);
int slow_setcontext(const ucontext_t *to); // goes through a stub before it jumps
int stub_slow_setcontext(const ucontext_t *to);
int stub_swapcontext(ucontext_t *from, const ucontext_t *to);
void through_noexcept(int value) noexcept;
void stub_noexcept(int value) noexcept;
// As `through`; each level catches and throws again, and its destructor calls through stubs, throws and catches.
void through_busy(int levels, int value);
void stub_busy(int levels, int value);
int walk(int levels, void **frames, int most);
int stub_walk(int levels, void **frames, int most);
extern long destroyed;           // objects in frames that exceptions have left
extern void (*at_the_throw)();   // called by throw_it before it throws, if set
extern void (*at_destruction)(); // called by each, if set

int compare_longs(const void *a, const void *b);
int stub_compare(const void *a, const void *b);
extern long compared; // calls of it

long call_far(long (*function)(long n), long n);
long far(long n);
long stub_far(long n);

// Fork-join: calls that are spawned through their stub. `look` is told where each child runs.
struct forked {
  long n;
  std::uintptr_t parent_rsp;
  void (*look)(const forked *, std::uintptr_t rsp);
};
long fib_forked(long at);
long stub_fib(long at);

long endless(long depth);
long stub_endless(long depth);

void small_root(void (*body)(long), long argument);
void large_root(void (*body)());
void assumed_root();
void loose_root();
void guarded_root();
}
