// One of each thing that a linker makes something of: stubs, slots, tables, folded and dropped functions.
// Built without libstdc++. Each function has a frame of its own size, so that a call taken for another shows.
#include "../paint.h"
#include "frame.h"

extern "C" {

extern long (*const side_table[2])(long);
long side(long x);
long side_tail(long x);
long side_pointer(long x);
__attribute__((weak)) long absent(long x);

long argument;

// Within one section, or by a relocation.
__attribute__((noinline)) static long near_one(long x) {
  FRAME(100);
  return room[x & 7];
}
__attribute__((noinline)) long near_two(long x) {
  FRAME(200);
  return near_one(x) + room[x & 7];
}
void direct(void) { argument += near_two(argument); }

// By a stub, by a slot, by a jump; by the slot of a function that the linker has itself.
void by_stub(void) { argument += side(argument); }
__attribute__((noplt)) long side_second(long x);
void by_slot(void) { argument += side_second(argument); }
long by_jump_inner(long x) { return side_tail(x + 1); }
void by_jump(void) { argument += by_jump_inner(argument); }
__attribute__((noplt, noinline)) long own_slot(long x) {
  FRAME(700);
  return room[x & 7];
}
void by_own_slot(void) { argument += own_slot(argument); }

// A pointer to a function of a library: with fixed addresses that of its stub here.
long (*const outside)(long) = side_pointer;
void by_pointer_outside(void) { argument += outside(argument); }
void by_table_outside(void) { argument += side_table[argument & 1](argument); }

// Tables here.
__attribute__((noinline)) static long listed_one(long x) {
  FRAME(800);
  return room[x & 7];
}
__attribute__((noinline)) static long listed_two(long x) {
  FRAME(900);
  return room[x & 7];
}
static long (*const list[2])(long) = {listed_one, listed_two};
void by_table(void) { argument += list[argument & 1](argument); }

long cases(long x) {
  FRAME(300);
  switch (x & 7) {
  case 0:
    return near_one(x);
  case 1:
    return near_two(x);
  case 2:
    return listed_one(x) * 3;
  case 3:
    return listed_two(x) - 7;
  case 4:
    return own_slot(x) + room[2];
  case 5:
    return side(x) * 9;
  default:
    return room[x & 7];
  }
}
void by_cases(void) { argument += cases(argument); }

// Alike to the byte.
__attribute__((noinline)) long folded_one(long x) {
  FRAME(1100);
  return near_two(x) + room[x & 3];
}
__attribute__((noinline)) long folded_two(long x) {
  FRAME(1100);
  return near_two(x) + room[x & 3];
}
void by_folded_one(void) { argument += folded_one(argument); }
void by_folded_two(void) { argument += 2 * folded_two(argument); }

// Chosen when the program starts; absent; needed by nobody.
static long chosen_small(long x) {
  FRAME(1200);
  return room[x & 7];
}
static long chosen_large(long x) {
  FRAME(1300);
  return room[x & 7];
}
long (*choose(void))(long) { return outside == nullptr ? chosen_small : chosen_large; }
__attribute__((ifunc("choose"))) long chosen(long x);
void by_choice(void) { argument += chosen(argument); }
void by_absent(void) {
  if (absent != nullptr)
    argument += absent(argument);
}
long unused(long x) {
  FRAME(1400);
  return near_one(x) + room[x & 7];
}

} // extern "C"

// By an object's table.
struct shape {
  virtual long area(long x) = 0;
};
struct square : shape {
  long area(long x) override {
    FRAME(1500);
    return room[x & 7];
  }
};
struct circle : shape {
  long area(long x) override {
    FRAME(1600);
    return room[x & 7];
  }
};
extern "C" void __cxa_pure_virtual() { abort(); }
square a_square;
circle a_circle;
shape *volatile some[2] = {&a_square, &a_circle};
extern "C" void by_object(void) { argument += some[argument & 1]->area(argument); }

int main() {
#define MEASURE(root) measure(#root, root, &argument, 60)
  MEASURE(direct);
  MEASURE(by_stub);
  MEASURE(by_slot);
  MEASURE(by_jump);
  MEASURE(by_own_slot);
  MEASURE(by_pointer_outside);
  MEASURE(by_table_outside);
  MEASURE(by_table);
  MEASURE(by_cases);
  MEASURE(by_folded_one);
  MEASURE(by_folded_two);
  MEASURE(by_choice);
  MEASURE(by_absent);
  MEASURE(by_object);
}
