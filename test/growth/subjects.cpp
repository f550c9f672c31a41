#include "subjects.hpp"

#include "nth/spawn.h"

#include <cstdarg>
#include <execinfo.h>

long destroyed = 0;
long compared = 0;
void (*at_destruction)() = nullptr;
void (*at_the_throw)() = nullptr;

namespace {

// A frame of so many bytes.
template <int Bytes>
struct large_frame {
  char bytes[Bytes];
  large_frame() { asm volatile("" : : "r"(bytes) : "memory"); }
};

struct counted {
  ~counted() {
    ++destroyed;
    if (at_destruction != nullptr)
      at_destruction();
  }
};

// Leaves its frame by calls through stubs, one of which throws.
struct busy {
  ~busy() {
    descent d{};
    try {
      stub_through(2, 99);
    } catch (int value) {
      --destroyed; // those of `through`
      destroyed += value == 99 && stub_down(50, &d) == 50 ? 0 : -1000;
    }
  }
};

} // namespace

extern "C" {

long down(long n, descent *d) {
  if (n != 0)
    return 1 + stub_down(n - 1, d);
  d->lowest_rsp = here();
  if (d->deepest != nullptr)
    d->deepest(d);
  return 0;
}

long self_down(long n, descent *d) {
  if (nth_self() != d->self)
    d->self = nullptr;
  const long below = n == 0 ? 0 : 1 + stub_self(n - 1, d);
  for (long i = 0; i < d->turns; ++i)
    nth_yield();
  if (nth_self() != d->self)
    d->self = nullptr;
  return below;
}

void wait_on_segment(descent *d) {
  d->lowest_rsp = here();
  nth_block();
}

long weigh(long n, ...) {
  va_list list;
  va_start(list, n);
  long sum = 0;
  for (long i = 1; i <= n; ++i)
    sum += i * va_arg(list, long);
  va_end(list);
  return sum;
}

page_of_longs page(page_of_longs a) {
  for (long i = 0; i < 512; ++i)
    a.word[i] = a.word[i] * 3 + i;
  return a;
}

long double wide(long a, long double b, int c, int d, int e, int f, int g, long double h, int i) {
  return static_cast<long double>(a) + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i;
}

void throw_it(int value) {
  if (at_the_throw != nullptr)
    at_the_throw();
  throw value;
}

void through(int levels, int value) {
  const counted one;
  const large_frame<12000> large;
  if (levels > 1)
    stub_through(levels - 1, value);
  else
    stub_throw(value);
}

void jump(jmp_buf *to, long levels) {
  const large_frame<2000> large;
  if (levels > 0)
    stub_jump(to, levels - 1);
  else
    stub_longjmp(*to, 7);
  asm volatile(""); // no tail call
}

void through_noexcept(int value) noexcept {
  const large_frame<12000> large;
  stub_throw(value);
}

void through_busy(int levels, int value) {
  const busy one;
  const large_frame<12000> large;
  try {
    if (levels > 1)
      stub_busy(levels - 1, value);
    else
      stub_throw(value);
  } catch (int) {
    descent d{};
    if (stub_down(30, &d) == 30)
      throw;
  }
}

int slow_setcontext(const ucontext_t *to) {
  stub_here();
  return setcontext(to);
}

int compare_longs(const void *a, const void *b) {
  ++compared;
  const long x = *static_cast<const long *>(a), y = *static_cast<const long *>(b);
  return (x > y) - (x < y);
}

long fib_forked(long at) {
  const auto *f = reinterpret_cast<const forked *>(at);
  if (f->look != nullptr)
    f->look(f, here());
  if (f->n < 2)
    return f->n;
  forked left{f->n - 1, here(), f->look}, right{f->n - 2, left.parent_rsp, f->look};
  nth_spawn_record record;
  nth_spawn(&record, stub_fib, reinterpret_cast<long>(&left));
  const long other = stub_fib(reinterpret_cast<long>(&right));
  return nth_sync(&record) + other;
}

long endless(long depth) {
  const large_frame<200> frame;
  const long below = depth == -1 ? 0 : endless(depth + 1);
  return below + frame.bytes[0];
}

int walk(int levels, void **frames, int most) {
  const large_frame<12000> large;
  const int found = levels > 0 ? stub_walk(levels - 1, frames, most) : backtrace(frames, most);
  asm volatile("");
  return found;
}

void small_root(void (*body)(long), long argument) { body(argument); }
void large_root(void (*body)()) { body(); }
void assumed_root() {}
void loose_root() {}
void guarded_root() {}
}
