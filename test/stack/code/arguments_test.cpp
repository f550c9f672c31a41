// Which argument registers code reads as it got them, and which it may have set for a call.
#include "assembled.hpp"
#include "image/debug_info.hpp"

#include <gtest/gtest.h>

namespace nth::stack {
namespace {

constexpr argument_mask rdi = 1, rsi = 2, rdx = 4, rcx = 8, xmm0 = 1 << 6, xmm1 = 1 << 7;

std::string name_of(std::size_t i) {
  std::string name = "f";
  return name.append(std::to_string(i));
}

TEST(arguments, read_as_they_came) {
  const std::vector<std::pair<std::string, argument_mask>> expected = {
      {"mov %rsi, %rax; ret", rsi},
      {"movsbl %dil, %eax; ret", rdi},
      {"mov %edi, %edi; mov %rdi, %rax; ret", 0}, // may be nobody's: only then is something written
      {"mov 8(%rdx), %rax; add (%rax,%rcx,8), %rax; ret", rdx | rcx},
      {"test %rdi, %rdi; sete %al; ret", rdi},
      {"xor %edi, %edi; mov %rdi, %rax; ret", 0},
      {"sub %rsi, %rsi; sbb %edx, %edx; ret", 0},
      {"or $-1, %rsi; and $0, %edi; lea (%rsi,%rdi), %rax; ret", 0},
      {"or $1, %rsi; ret", rsi},
      {"push %rcx; pop %rcx; ret", 0},
      {"nopw 0(%rdi,%rsi,1); ret", 0},
      {"test %eax, %eax; cmove %rsi, %rdx; ret", rsi},
      {"test %eax, %eax; je 1f; xor %esi, %esi; 1: mov %rsi, %rax; ret", 0}, // not on all ways
      {"test %eax, %eax; je 1f; xor %edi, %edi; 1: mov %rsi, %rax; ret", rsi},
      {"1: mov %rsi, %rax; dec %rsi; jne 1b; ret", 0}, // in the first turn alone
      {"call *8(%rdi); mov %rsi, %rax; ret", rdi},
      {"mov %rsi, (%rdi); ret", rdi | rsi},
      {"mov %rdx, -0x20(%rsp); movslq %esi, %rax; add %rdx, %rax; ret", rsi}, // gcc's variadic function
      {"push %rbp; mov %rsp, %rbp; mov %rdi, -8(%rbp); mov -8(%rbp), %rax; pop %rbp; ret", 0},
      {"movapd %xmm1, %xmm2; ret", xmm1},
      {"pxor %xmm0, %xmm0; movapd %xmm0, %xmm1; ret", 0},
      {"sqrtsd %xmm0, %xmm1; ret", xmm0},
      {"cvtsi2sd %eax, %xmm1; ret", 0},
      {"vcvtsi2sd %eax, %xmm1, %xmm0; ret", 0},
      {"vpcmpeqd %ymm0, %ymm0, %ymm0; vmovdqa %ymm0, %ymm1; ret", 0},
  };
  std::vector<std::pair<std::string, std::string>> functions;
  for (std::size_t i = 0; i < expected.size(); ++i)
    functions.emplace_back(name_of(i), expected[i].first);
  const assembled a(functions);
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(a.of(name_of(i)).consumed, expected[i].second) << expected[i].first;
}

TEST(arguments, set_for_a_call) {
  struct {
    const char *code;
    argument_mask written, as_entered;
  } const expected[] = {
      {"sub $8, %rsp; mov $1, %edi; call *(%rax); add $8, %rsp; ret", rdi, all_arguments & ~rdi},
      {"mov $1, %edi; jmp *8(%rax)", rdi, all_arguments & ~rdi},
      {"push %rbx; call *(%rdi); mov $1, %edi; call *(%rbx); pop %rbx; ret", rdi | rdx | xmm0 | xmm1, 0},
      {"push %rbx; call outside@PLT; mov $1, %edi; call *(%rbx); pop %rbx; ret", rdi | rdx | xmm0 | xmm1, 0},
      {"push %rbx; call *outside@GOTPCREL(%rip); call *(%rbx); pop %rbx; ret", rdx | xmm0 | xmm1, 0},
      // What a function of this module leaves as it was may be known to its callers.
      {"push %rbx; call here; mov $1, %edi; call *(%rbx); pop %rbx; ret", rdi | rdx | xmm0 | xmm1,
       all_arguments & ~rdi},
      // The code that a descriptor of thread-local storage names leaves all but rax.
      {"push %rbx; lea variable@tlsdesc(%rip), %rax; call *variable@tlscall(%rax); call *(%rbx); pop %rbx; "
       "ret",
       rdx | xmm0 | xmm1, all_arguments},
      {"push %rbx; test %eax, %eax; je 1f; mov $1, %esi; 1: call *(%rbx); pop %rbx; ret", rsi, all_arguments},
  };
  std::vector<std::pair<std::string, std::string>> functions = {{"here", "ret"}};
  for (std::size_t i = 0; i < std::size(expected); ++i)
    functions.emplace_back(name_of(i), expected[i].code);
  const assembled a(functions);
  for (std::size_t i = 0; i < std::size(expected); ++i) {
    const std::vector<call_site> &calls = a.of(name_of(i)).calls;
    ASSERT_FALSE(calls.empty()) << expected[i].code;
    EXPECT_EQ(calls.back().written, expected[i].written) << expected[i].code;
    EXPECT_EQ(calls.back().as_entered, expected[i].as_entered) << expected[i].code;
  }
}

// Of whole libraries: what is read is never more than what the source declares, nor, of a variable number of
// parameters, more than those with names. Clones of gcc (.isra) have other parameters than the source.
TEST(arguments, read_are_among_those_that_are_declared) {
  std::size_t compared = 0;
  for (const char *path : {"/lib/x86_64-linux-gnu/libc.so.6", "/lib/x86_64-linux-gnu/libm.so.6",
                           SUBJECTS "/shapes_c_O2", SUBJECTS "/shapes_c_O3", SUBJECTS "/shapes_cpp_O2"}) {
    if (!std::filesystem::exists(path))
      continue;
    module image(path);
    image.add_split_symbols("/usr/lib/debug");
    const unwind_table unwind(image);
    function_table table(image, unwind);
    const std::vector<function_facts> facts = scan_module(image, unwind, table, {});
    const debug_info debug(image);
    for (std::size_t f = 0; f < facts.size(); ++f) {
      const function &each = table.functions[f];
      const signature *told = debug.of(each.entry);
      if (told == nullptr || each.kind == function_kind::fragment ||
          each.symbol.find(".isra") != std::string::npos)
        continue;
      ++compared;
      signature named = *told;
      named.variadic = false;
      named.prototyped = true;
      const argument_count most = most_arguments(named);
      EXPECT_EQ(facts[f].consumed >> most.integers << most.integers & 0x3f, 0) << path << ' ' << each.name;
      const unsigned vectors = facts[f].consumed >> integer_arguments;
      EXPECT_EQ(vectors >> most.vectors, 0U) << path << ' ' << each.name;
    }
  }
  EXPECT_GT(compared, 50U);
}

} // namespace
} // namespace nth::stack
