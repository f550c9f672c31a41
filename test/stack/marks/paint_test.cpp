// The harness itself: functions whose marks are known to the byte.
#include "paint.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <unistd.h>

using nth::marks::call_frame;
using nth::marks::painted_stack;

// Each in assembly, so that no compiler decides what it writes.
#define KNOWN(name, body)                                                                                    \
  extern "C" const char known_##name[];                                                                      \
  asm(".text\n.globl known_" #name "\n.hidden known_" #name "\nknown_" #name ":\n" body "\n")

KNOWN(empty, "ret");
KNOWN(push, "push %rbx; pop %rbx; ret");
KNOWN(red_zone, "movb $1, -100(%rsp); ret");
KNOWN(one_byte, "movb $0x5a, -1000(%rsp); ret");
KNOWN(reserved_only, "sub $4096, %rsp; add $4096, %rsp; ret");
KNOWN(gap, "sub $40000, %rsp; movb $1, (%rsp); add $40000, %rsp; ret");
KNOWN(nested, "sub $24, %rsp; call known_push; add $24, %rsp; ret");
KNOWN(stack_argument, "mov 8(%rsp), %rax; mov 16(%rsp), %rdx; ret");
KNOWN(write_argument, "movq $0, 8(%rsp); ret");
KNOWN(registers, "lea (%rdi,%rsi), %rax; sub %rdx, %rax; add %rcx, %rax; sub %r8, %rax; add %r9, %rax; "
                 "addsd %xmm7, %xmm0; ret");
KNOWN(count_vectors, "movzx %al, %eax; ret");
KNOWN(x87_result, "fldpi; ret");
KNOWN(overflow, "1: push %rax; jmp 1b");
KNOWN(aligned, "mov %rsp, %rax; ret");

namespace {

constexpr std::size_t stack_size = 256U << 10U;

class marks : public testing::Test {
protected:
  painted_stack stack{stack_size, 12345};
  painted_stack other{stack_size, 999};
  call_frame frame;

  std::size_t of(const char *function) {
    frame.function = function;
    const std::size_t first = stack.call(frame);
    EXPECT_EQ(other.call(frame), first) << "two kinds of paint";
    EXPECT_EQ(stack.call(frame), first) << "the paint was put right after the first call";
    return first;
  }
};

TEST_F(marks, count_the_return_address) { EXPECT_EQ(of(known_empty), 8U); }
TEST_F(marks, count_what_is_pushed) { EXPECT_EQ(of(known_push), 16U); }
TEST_F(marks, count_calls_below) { EXPECT_EQ(of(known_nested), 8U + 24U + 16U); }
TEST_F(marks, are_exact_to_the_byte) {
  EXPECT_EQ(of(known_red_zone), 8U + 100U);
  EXPECT_EQ(of(known_one_byte), 8U + 1000U);
}
TEST_F(marks, see_writes_beyond_a_gap) { EXPECT_EQ(of(known_gap), 8U + 40000U); }
TEST_F(marks, do_not_see_what_is_only_reserved) { EXPECT_EQ(of(known_reserved_only), 8U); }

TEST_F(marks, are_small_again_after_a_deep_call) {
  EXPECT_EQ(of(known_gap), 8U + 40000U);
  EXPECT_EQ(of(known_empty), 8U);
}

TEST_F(marks, begin_below_the_arguments) {
  const std::uint64_t words[] = {7, 11, 13, 0};
  frame.words = words;
  frame.word_count = 4;
  EXPECT_EQ(of(known_stack_argument), 8U);
  EXPECT_EQ(frame.rax, 7U);
  EXPECT_EQ(frame.rdx, 11U);
  EXPECT_EQ(of(known_write_argument), 8U) << "a caller's word, not the function's";
  EXPECT_EQ(of(known_empty), 8U);
  EXPECT_EQ(of(known_push), 16U);
}

TEST_F(marks, pass_arguments_in_registers) {
  for (std::uint64_t i = 0; i < 6; ++i)
    frame.general[i] = std::uint64_t{1} << i;
  const double a = 1.5;
  const double b = 100;
  std::memcpy(&frame.vector[0], &a, sizeof a);
  std::memcpy(&frame.vector[7], &b, sizeof b);
  EXPECT_EQ(of(known_registers), 8U);
  EXPECT_EQ(frame.rax, 1U + 2 - 4 + 8 - 16 + 32);
  double sum = 0;
  std::memcpy(&sum, &frame.xmm0, sizeof sum);
  EXPECT_EQ(sum, 101.5);
  frame.vectors = 8;
  of(known_count_vectors);
  EXPECT_EQ(frame.rax, 8U);
}

TEST_F(marks, leave_the_x87_stack_empty) {
  for (int i = 0; i < 10; ++i)
    of(known_x87_result);
  long double one = 1;
  asm volatile("" : "+t"(one));
  EXPECT_EQ(one, 1.0L); // a full stack would make it NaN
}

TEST_F(marks, call_with_an_aligned_stack) {
  of(known_aligned);
  EXPECT_EQ((frame.rax + 8) % 16, 0U);
}

TEST_F(marks, overflow_hits_the_guard) {
  of(known_aligned);
  const auto *bottom = reinterpret_cast<const std::byte *>(frame.rax + 8 - stack_size);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_EQ(write(ends[1], bottom, 1), 1);
  EXPECT_EQ(write(ends[1], bottom - 1, 1), -1) << "the guard can be read";
  close(ends[0]);
  close(ends[1]);
  EXPECT_TRUE(stack.guards(bottom - 1));
  EXPECT_FALSE(stack.guards(bottom));
  frame.function = known_overflow;
  EXPECT_DEATH(stack.call(frame), "");
}

} // namespace
