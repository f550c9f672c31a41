// The C++ overloads: arguments of any word type arrive as the parameters that they were given as.
#include "../support/reports.hpp"
#include "../support/runtime.hpp"

#include <climits>
#include <cstdint>

using namespace nth::test;

namespace {

enum class colour : signed char { red = -3, green = 7 };
enum plain { first = 1, last = 0x7fffffff };

struct seen_words {
  colour hue;
  plain number;
  int *pointer;
  int integer;
  unsigned char byte;
  bool flag;
  unsigned long large;
  const char *text;
  void *null;
} seen;

void take(colour hue, plain number, int *pointer, int integer, unsigned char byte, bool flag,
          unsigned long large, const char *text, void *null) {
  seen = {hue, number, pointer, integer, byte, flag, large, text, null};
}

TEST(overloads, keep_each_type) {
  const watchdog guard;
  const runtime up(1);
  static int target;
  static const char text[] = "text";
  const unsigned char byte = 200;
  const auto check = [&] {
    EXPECT_EQ(seen.hue, colour::red);
    EXPECT_EQ(seen.number, last);
    EXPECT_EQ(seen.pointer, &target);
    EXPECT_EQ(seen.integer, INT_MIN);
    EXPECT_EQ(seen.byte, 200);
    EXPECT_TRUE(seen.flag);
    EXPECT_EQ(seen.large, ULONG_MAX);
    EXPECT_EQ(seen.text, text);
    EXPECT_EQ(seen.null, nullptr);
    seen = {};
  };
  EXPECT_EQ(nth_run(take, 9, colour::red, last, &target, INT_MIN, byte, true, ULONG_MAX, text, nullptr),
            NTH_OK);
  check();
  run([&] {
    nth_depadd(nth_self(), 2);
    nth_to_lrq(0, nth_create_ls(take, 0, nth_self(), 9, colour::red, last, &target, INT_MIN, byte, true,
                                ULONG_MAX, text, nullptr));
    nth_block();
    check();
    nth_depadd(nth_self(), 2);
    nth_to_lrq(0, nth_create(take, 0, 1, 9, nth_self(), colour::red, last, &target, INT_MIN, byte, true,
                             ULONG_MAX, text, nullptr));
    nth_block();
    check();
  });
}

// An int that is given to a parameter of another width keeps its value.
TEST(overloads, widen_with_the_sign) {
  const runtime up(1);
  static long wide, other;
  static std::uint64_t big;
  void (*root)(long, long, std::uint64_t) = [](long a, long b, std::uint64_t c) {
    wide = a, other = b, big = c;
  };
  EXPECT_EQ(nth_run(root, 3, -5, static_cast<signed char>(-6), 0xffffffffu), NTH_OK);
  EXPECT_EQ(wide, -5);
  EXPECT_EQ(other, -6);
  EXPECT_EQ(big, 0xffffffffu);
}

long returns_a_value(long x) noexcept { return x + 1; }

TEST(overloads, take_functions_that_return_something) {
  const runtime up(1);
  EXPECT_EQ(nth_run(returns_a_value, 1, 4), NTH_OK);
}

TEST(overloads, refuse_a_wrong_count) {
  const runtime up(1);
  EXPECT_EQ(nth_run(returns_a_value, 2, 4), NTH_EINVAL);
  EXPECT_EQ(nth_run(returns_a_value, 0, 4), NTH_EINVAL);
}

// Successors and arguments are told apart as the program runs: what is left for the root must be what it takes.
TEST(overloads, refuse_what_the_root_does_not_take) {
  const runtime up(1);
  run([] {
    nth_desc *const self = nth_self();
    const reports heard;
    EXPECT_EQ(nth_create(returns_a_value, 0, 1, 2, self, 4, 5), nullptr);
    EXPECT_EQ(nth_create(returns_a_value, 0, 1, 0, self), nullptr);
    EXPECT_EQ(nth_create(returns_a_value, 0, 0, 0), nullptr);
    EXPECT_EQ(heard.count(), 3);
    EXPECT_EQ(heard.last_status(), NTH_EINVAL);
  });
}

// One that was cast, as C programs give it, says nothing of its parameters.
TEST(overloads, a_root_that_was_cast_takes_any_number) {
  const runtime up(1);
  static long sum;
  void (*adds)(long, long) = [](long a, long b) { sum = a + b; };
  EXPECT_EQ(nth_run(reinterpret_cast<void (*)()>(adds), 2, 4L, 5L), NTH_OK);
  EXPECT_EQ(sum, 9);
}

} // namespace
