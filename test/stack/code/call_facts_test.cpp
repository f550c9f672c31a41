// How often calls are made by the control flow alone, which registers live at them, and what a function touches of what
// its caller has pushed.
#include "assembled.hpp"

#include <gtest/gtest.h>

namespace nth::stack {
namespace {

constexpr kept_registers rbx = 1, rbp = 2, r12 = 4, r15 = 32;

const function_facts &facts_of(const std::string &body, std::unique_ptr<assembled> &keep) {
  keep = std::make_unique<assembled>(std::vector<std::pair<std::string, std::string>>{{"f", body}});
  return keep->of("f");
}

TEST(frequencies, of_calls) {
  constexpr double turns = 1 / 0.12;
  const std::vector<std::pair<std::string, std::vector<double>>> expected = {
      {"call *%rax; ret", {1}},
      {"test %eax, %eax; je 1f; call *%rax; 1: call *%rdx; ret", {0.5, 1}},
      {"1: call *%rax; test %eax, %eax; jne 1b; call *%rdx; ret", {turns, 1}},
      {"1: call *%rax; 2: call *%rdx; test %eax, %eax; jne 2b; test %ecx, %ecx; jne 1b; ret",
       {turns, turns * turns}},
      {"1: test %eax, %eax; je 2f; call *%rax; jmp 1b; 2: call *%rdx; ret", {turns - 1, 1}},
      {"test %eax, %eax; je 1f; call *%rax; ud2; 1: ret", {0.0005}}, // it never comes back
  };
  std::unique_ptr<assembled> keep;
  for (const auto &[body, often] : expected) {
    SCOPED_TRACE(body);
    const function_facts &f = facts_of(body, keep);
    ASSERT_EQ(f.calls.size(), often.size());
    for (std::size_t i = 0; i < often.size(); ++i)
      EXPECT_NEAR(f.calls[i].frequency, often[i], often[i] * 0.1) << i;
  }
}

TEST(live_registers, of_calls) {
  const std::vector<std::pair<std::string, std::vector<int>>> expected = {
      {"call *%rax; ret", {0}},
      {"push %rbx; .cfi_def_cfa_offset 16; call *%rax; pop %rbx; .cfi_def_cfa_offset 8; ret", {0}},
      {"push %rbx; .cfi_def_cfa_offset 16; mov %edi, %ebx; call *%rax; mov %ebx, %eax; pop %rbx; "
       ".cfi_def_cfa_offset 8; ret",
       {rbx}},
      {"call *%rax; mov $1, %ebx; mov %ebx, %eax; ret", {0}},
      {"call *%rax; mov $1, %bl; mov %ebx, %eax; ret", {rbx}}, // the rest of it lives on
      {"call *%rax; test %eax, %eax; je 1f; mov %r12, %rax; 1: add %r15, %rax; ret", {r12 | r15}},
      {"1: call *%rax; call *%rdx; add %rbp, %rdi; jmp 1b", {rbp, rbp}},
  };
  std::unique_ptr<assembled> keep;
  for (const auto &[body, live] : expected) {
    SCOPED_TRACE(body);
    const function_facts &f = facts_of(body, keep);
    ASSERT_EQ(f.calls.size(), live.size());
    for (std::size_t i = 0; i < live.size(); ++i)
      EXPECT_EQ(f.calls[i].live, live[i]) << i;
  }
  EXPECT_EQ(facts_of("mov %rbx, %rax; ret", keep).untouched, all_kept);
  EXPECT_EQ(facts_of("mov %rax, %r12; ret", keep).untouched, all_kept & ~r12);
}

TEST(arguments_on_the_stack, that_a_function_touches) {
  const std::vector<std::pair<std::string, std::int64_t>> expected = {
      {"mov %rdi, %rax; ret", 0},
      {"mov -8(%rsp), %rax; ret", 0},
      {"mov 8(%rsp), %rax; ret", 8},
      {"mov 16(%rsp), %eax; ret", 12},
      {"push %rbp; .cfi_def_cfa_offset 16; .cfi_offset %rbp, -16; mov %rsp, %rbp; .cfi_def_cfa_register "
       "%rbp; "
       "mov %rax, 32(%rbp); pop %rbp; .cfi_def_cfa %rsp, 8; ret",
       24},
      {"lea 8(%rsp), %rax; mov (%rax), %rax; ret", unknown_arguments},
      {"mov 8(%rsp,%rdi,8), %rax; ret", unknown_arguments},
      {"and $3, %edi; mov 8(%rsp,%rdi,8), %rax; ret", unknown_arguments},
      {"and $3, %edi; mov -40(%rsp,%rdi,8), %rax; ret", 0},
  };
  std::unique_ptr<assembled> keep;
  for (const auto &[body, bytes] : expected)
    EXPECT_EQ(facts_of(body, keep).arguments, bytes) << body;
}

// gcc's frame for locals that are aligned to 32 bytes and more: r10 leads to the arguments, and the return address is
// pushed once more for unwinders, which is no look at it.
TEST(arguments_on_the_stack, of_realigned_frames) {
  const std::string begin =
      "lea 8(%rsp), %r10; .cfi_def_cfa %r10, 0; and $-32, %rsp; push -8(%r10); push %rbp; "
      "mov %rsp, %rbp; .cfi_escape 0x10,0x6,0x2,0x76,0; push %r10; "
      ".cfi_escape 0xf,0x3,0x76,0x78,0x6; sub $72, %rsp; ";
  const std::string end = "mov -8(%rbp), %r10; .cfi_def_cfa %r10, 0; leave; lea -8(%r10), %rsp; "
                          ".cfi_def_cfa %rsp, 8; ret";
  std::unique_ptr<assembled> keep;
  EXPECT_FALSE(facts_of(begin + "call *%rax; " + end, keep).reads_return_address);
  EXPECT_TRUE(facts_of("mov (%rsp), %rax; ret", keep).reads_return_address);
}

} // namespace
} // namespace nth::stack
