// What a thread finds again when it goes on, perhaps on another worker: its locals, errno, and, if it
// asked for that, its rounding mode. nth_keep_fp does not leak into others.
#include "../support/runtime.hpp"

#include <cerrno>
#include <cfenv>
#include <cstdint>
#include <vector>

#include <xmmintrin.h>

using namespace nth::test;

namespace {

// Compilers keep the address of errno across calls, but a thread may go on on another kernel thread: so
// it is looked up in functions that are compiled by themselves.
[[gnu::noinline]] int get_errno() {
  asm volatile("" ::: "memory");
  return errno;
}
[[gnu::noinline]] void set_errno(int value) {
  asm volatile("" ::: "memory");
  errno = value;
}

class switched : public testing::TestWithParam<nth_policy> {
protected:
  const watchdog guard;
  // Runs `width` threads, body(i), at all workers.
  template <class F>
  void run_many(int width, F body) {
    run([&] {
      nth_depadd(nth_self(), width + 1);
      const auto root = [](F *what, int number) { (*what)(number); };
      for (int i = 0; i < width; ++i)
        nth_to_lrq_end(i % kthreads, nth_create_ls(+root, 0, nth_self(), 2, &body, i));
      nth_block();
    });
  }
};

// Suspends the caller: by a yield, until a child has unblocked it, or until a child has ended. The children
// run anywhere.
void suspend(int how) {
  if (how % 3 == 0) {
    nth_yield();
  } else if (how % 3 == 1) {
    const auto waker = [](nth_desc *thread, std::uint32_t generation) {
      EXPECT_EQ(nth_unblock({thread, generation}), NTH_OK);
    };
    const nth_handle_t mine = nth_handle(nth_self());
    nth_desc *thread = nth_create_ls(+waker, 0, nullptr, 2, mine.thread, mine.generation);
    const nth_handle_t child = nth_handle(thread);
    nth_to_lrq_end(how % kthreads, thread);
    nth_block();
    while (nth_alive(child) != 0) // it has woken the caller, but may not have ended
      nth_yield();
  } else {
    const auto nothing = [] {};
    nth_depadd(nth_self(), 2);
    nth_to_lrq_end(how % kthreads, nth_create_ls(+nothing, 0, nth_self(), 0));
    nth_block();
  }
}

TEST_P(switched, locals) {
  const runtime up(4, GetParam());
  run_many(100, [](int number) {
    volatile char filled[500];
    for (char volatile &one : filled)
      one = static_cast<char>(number);
    // More live values than there are registers that a call keeps.
    // Unsigned: they overflow, and mean to.
    unsigned long a = static_cast<unsigned long>(number), b = a * 3, c = b ^ 5, d = c * 7, e = d + 11,
                  f = e * 13, g = f - 17, h = g * 19;
    double x = number + 0.5, y = x * x;
    const nth_desc *self = nth_self();
    for (int i = 0; i < 50; ++i) {
      suspend(number + i);
      a += b, b += c, c += d, d += e, e += f, f += g, g += h, h += a, x += y, y *= 0.5;
    }
    unsigned long a2 = static_cast<unsigned long>(number), b2 = a2 * 3, c2 = b2 ^ 5, d2 = c2 * 7,
                  e2 = d2 + 11, f2 = e2 * 13, g2 = f2 - 17, h2 = g2 * 19;
    double x2 = number + 0.5, y2 = x2 * x2;
    for (int i = 0; i < 50; ++i)
      a2 += b2, b2 += c2, c2 += d2, d2 += e2, e2 += f2, f2 += g2, g2 += h2, h2 += a2, x2 += y2, y2 *= 0.5;
    EXPECT_EQ(h, h2);
    EXPECT_EQ(x, x2);
    EXPECT_EQ(nth_self(), self);
    for (char volatile &one : filled)
      EXPECT_EQ(one, static_cast<char>(number));
  });
}

TEST_P(switched, errno_of_each) {
  const runtime up(4, GetParam());
  run_many(100, [](int number) {
    set_errno(1000 + number);
    for (int i = 0; i < 50; ++i) {
      suspend(number + i);
      const int found = get_errno();
      EXPECT_EQ(found, 1000 + number);
      set_errno(1000 + number);
    }
  });
}

TEST_P(switched, attached_kernel_thread_keeps_errno) {
  const runtime up(1, GetParam());
  nth_desc *self = nth_attach();
  ASSERT_NE(self, nullptr);
  auto body = [] { set_errno(5); };
  nth_depadd(self, 2);
  nth_to_lrq(0, create(body, self));
  set_errno(77);
  nth_block();
  EXPECT_EQ(get_errno(), 77);
  EXPECT_EQ(nth_detach(), NTH_OK);
}

// Rounding by both units, read from the registers.
[[gnu::noinline]] int x87_rounding() {
  unsigned short control;
  asm volatile("fnstcw %0" : "=m"(control));
  return control & 0x0c00;
}
[[gnu::noinline]] int sse_rounding() {
  asm volatile("" ::: "memory");
  return static_cast<int>(_mm_getcsr() & _MM_ROUND_MASK) >> 3; // as in the x87 word
}
[[gnu::noinline]] void set_rounding(int mode) {
  asm volatile("" ::: "memory");
  EXPECT_EQ(std::fesetround(mode), 0);
}
void expect_rounding(int mode) {
  EXPECT_EQ(x87_rounding(), mode);
  EXPECT_EQ(sse_rounding(), mode);
}

TEST_P(switched, rounding_kept_on_request) {
  const runtime up(2, GetParam());
  constexpr int modes[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
  run_many(40, [&](int number) {
    const int mode = modes[number % 4];
    if (mode == FE_TONEAREST) { // this one asks for nothing and must see the default
      for (int i = 0; i < 50; ++i) {
        expect_rounding(FE_TONEAREST);
        suspend(number + i);
      }
      return;
    }
    nth_keep_fp(1);
    set_rounding(mode);
    for (int i = 0; i < 50; ++i) {
      suspend(number + i);
      expect_rounding(mode);
    }
    if (number % 8 < 4) {
      nth_keep_fp(0);
      expect_rounding(FE_TONEAREST);
    } // else it ends with its own mode, which the next thread must not inherit
  });
}

TEST_P(switched, rounding_does_not_reach_the_next_thread) {
  const runtime up(1, GetParam());
  run([] {
    auto keeper = [] {
      nth_keep_fp(1);
      set_rounding(FE_UPWARD);
    };
    auto other = [] { expect_rounding(FE_TONEAREST); };
    nth_depadd(nth_self(), 21);
    for (int i = 0; i < 10; ++i) {
      nth_to_lrq_end(0, create(keeper, nth_self()));
      nth_to_lrq_end(0, create(other, nth_self()));
    }
    nth_block();
    expect_rounding(FE_TONEAREST);
  });
}

INSTANTIATE_TEST_SUITE_P(policies, switched, testing::ValuesIn(all_policies),
                         [](const auto &test) { return name_of(test.param); });

} // namespace
