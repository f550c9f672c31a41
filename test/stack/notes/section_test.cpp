// nth/stack.h through compilers, options and linkers, as annotations_of() finds it in the program.
#include "notes/annotations.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

namespace nth::stack {
namespace {

using what = annotation::what;

bool there_is(const std::string &program) {
  return std::system(("command -v " + program + " >/dev/null").c_str()) == 0;
}

class a_program : public testing::Test {
protected:
  void SetUp() override {
    dir_ = std::filesystem::path(testing::TempDir()) /
           ("nth_stack_section_" + std::to_string(testing::UnitTest::GetInstance()->random_seed()) + "_" +
            std::to_string(::getpid()));
    std::filesystem::create_directories(dir_);
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }

  void write(const std::string &name, const std::string &text) { std::ofstream(dir_ / name) << text; }

  // Of the program that `command` makes of the sources; it is called "out".
  annotations built(const std::string &command) {
    const std::string line = "cd " + dir_.string() + " && " + command +
                             " -I" NTH_SOURCE_DIR "/include -Wall -Wextra "
                             "-Wpedantic -Werror -o out";
    if (std::system(line.c_str()) != 0)
      throw std::runtime_error(line);
    return annotations_of(module(dir_ / "out"));
  }

  std::filesystem::path dir_;
};

const char *const c_source = R"~(
#include <nth/stack.h>
int cmp_int(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static int cmp_down(const void *a, const void *b) { return cmp_int(b, a); }
int (*volatile compare)(const void *, const void *) = cmp_down;
__attribute__((noinline)) int fact(int n) {
  NTH_STACK_DEPTH(12 + 1);
  return n < 2 ? 1 : n * fact(n - 1) + 1;
}
__attribute__((noinline)) int sort(int *v) {
  NTH_STACK_TARGETS(cmp_int, cmp_down);
  return compare(v, v + 1);
}
__attribute__((noinline)) int sum(int n) {
  volatile char room[n];
  NTH_STACK_FRAME(4096);
  room[0] = 1;
  return room[0];
}
__attribute__((noinline)) int outside(int n) {
  NTH_STACK_NEED(1 << 14);
  NTH_STACK_BLOCKS;
  return n + compare(&n, &n);
}
int main(int argc, char **argv) {
  int v[2] = {argc, 1};
  return fact(argc) + sort(v) + sum(argc) + outside(argc) + (argv == 0);
}
)~";

void check_c_notes(const annotations &a) {
  std::map<std::pair<std::string, what>, annotation> by;
  for (const annotation &n : a.list) {
    EXPECT_TRUE(by.try_emplace({n.function, n.kind}, n).second) << n.function << " twice";
    EXPECT_EQ(n.module, "out");
    EXPECT_NE(n.within, 0U);
    EXPECT_FALSE(n.checked);
    EXPECT_EQ(n.where.find("a.c:"), 0U) << n.where;
    EXPECT_EQ(n.because.find("said in the source by NTH_STACK_"), 0U) << n.because;
  }
  EXPECT_TRUE(a.misplaced.empty()) << a.misplaced.front();
  ASSERT_EQ(a.list.size(), 5U);
  EXPECT_EQ((by[{"fact", what::depth}].bytes), 13);
  EXPECT_EQ((by[{"fact", what::depth}].where), "a.c:7");
  EXPECT_EQ((by[{"sort", what::targets}].names), (std::vector<std::string>{"cmp_int", "cmp_down"}));
  EXPECT_EQ((by[{"sum", what::frame}].bytes), 4096);
  EXPECT_EQ((by[{"outside", what::need}].bytes), 16384);
  EXPECT_EQ((by.count({"outside", what::blocks})), 1U);
}

TEST_F(a_program, in_c_has_its_notes) {
  write("a.c", c_source);
  for (const char *cc : {"gcc -std=c11", "clang -std=gnu17"}) {
    if (!there_is(std::string(cc, std::string(cc).find(' '))))
      continue;
    for (const char *options : {"-O0", "-O2", "-O3", "-O0 -fPIC", "-O2 -fPIC -shared", "-O2 -no-pie -fno-pic",
                                "-O2 -flto", "-O2 -ffunction-sections -fdata-sections -Wl,--gc-sections",
                                "-O2 -Wl,--emit-relocs", "-O2 -fuse-ld=gold"}) {
      const std::string command = std::string(cc) + " " + options + " a.c";
      SCOPED_TRACE(command);
      check_c_notes(built(command));
    }
  }
}

TEST_F(a_program, in_cpp_has_its_notes_once_though_inline_functions_are_in_many_files) {
  write("h.hpp", R"~(
#include <nth/stack.h>
namespace ns {
template <typename T> __attribute__((noinline)) T half(T n) { NTH_STACK_DEPTH(sizeof(T)); return n < 1 ? n : half(n / 2) + 1; }
inline __attribute__((noinline)) int fact(int n) { NTH_STACK_DEPTH(9); return n < 2 ? 1 : n * fact(n - 1) + 1; }
struct tree { __attribute__((noinline)) int depth() const; tree *left; int operator()(int n) { NTH_STACK_NEED(640); return n; } };
})~");
  write("a.cpp", R"~(#include "h.hpp"
int other(int);
int ns::tree::depth() const { NTH_STACK_DEPTH(40); return left ? left->depth() + 1 : 0; }
static int one(int n) { return n; }
int one(double n) { return n > 0; }
namespace ns { int two(int n) { return n; } }
int (*volatile pointer)(int) = one;
__attribute__((noinline)) int indirect(int n) { NTH_STACK_TARGETS(ns::two, other); return pointer(n); }
int main(int argc, char **) {
  ns::tree t{};
  auto f = [](int n) __attribute__((noinline)) { NTH_STACK_FRAME(99); volatile int v = n; return v; };
  return ns::fact(argc) + other(argc) + t.depth() + indirect(argc) + static_cast<int>(ns::half(2.5)) + f(argc) + one(1.0);
})~");
  write("b.cpp", "#include \"h.hpp\"\nint other(int n) { return ns::fact(n) + ns::half(n); }\n");
  for (const char *cc : {"g++", "clang++"}) {
    if (!there_is(cc))
      continue;
    for (const char *options : {"-O0", "-O1", "-O2", "-O3", "-O2 -fPIC -shared", "-O2 -fuse-ld=gold",
                                "-O0 -fPIC", "-O2 -ffunction-sections -fdata-sections -Wl,--gc-sections"}) {
      const std::string command = std::string(cc) + " -std=c++17 " + options + " a.cpp b.cpp";
      SCOPED_TRACE(command);
      const annotations a = built(command);
      std::map<std::string, annotation> by;
      for (const annotation &n : a.list)
        by[n.function] = n;
      EXPECT_EQ(by["ns::fact(int)"].bytes, 9);
      EXPECT_EQ(by["double ns::half<double>(double)"].bytes, 8);
      EXPECT_EQ(by["int ns::half<int>(int)"].bytes, 4);
      EXPECT_EQ(by["ns::tree::depth() const"].bytes, 40);
      EXPECT_EQ(by["indirect(int)"].names, (std::vector<std::string>{"ns::two", "other"}));
      const bool has_lambda = std::any_of(a.list.begin(), a.list.end(), [](const annotation &n) {
        return n.bytes == 99 && n.function.find("::operator()(int) const") != std::string::npos;
      });
      EXPECT_TRUE(has_lambda) << "its name differs";
      EXPECT_EQ(by.size(), 6U) << "copies that the compiler made have the function's name";
      EXPECT_TRUE(a.misplaced.empty()) << a.misplaced.front();
    }
  }
}

TEST_F(a_program, into_which_a_function_has_gone_does_not_inherit_its_notes) {
  write("a.c", R"~(
#include <nth/stack.h>
static inline __attribute__((always_inline)) int lost(int n) { NTH_STACK_NEED(64); return n + 1; }
static inline __attribute__((always_inline)) int waits(int n) { NTH_STACK_BLOCKS; return n + 2; }
inline __attribute__((gnu_inline)) extern int both(int n) { NTH_STACK_NEED(48); return n + 3; }
__attribute__((noinline)) int caller(int n) { return lost(n) + waits(n) + both(n); }
int main(int argc, char **argv) { return caller(argc) + (argv == 0); })~");
  write("b.c", "#include <nth/stack.h>\nint both(int n) { NTH_STACK_NEED(48); return n + 3; }\n");
  const annotations a = built("gcc -std=gnu11 -O2 a.c b.c");
  ASSERT_EQ(a.list.size(), 2U);
  const bool first = a.list[0].kind == what::blocks;
  EXPECT_EQ(a.list[first ? 0 : 1].kind, what::blocks);
  EXPECT_EQ(a.list[first ? 0 : 1].function, "caller") << "whoever calls it may block";
  EXPECT_EQ(a.list[first ? 1 : 0].function, "both");
  ASSERT_EQ(a.misplaced.size(), 2U);
  EXPECT_NE(
      a.misplaced[0].find("a.c:3: NTH_STACK_NEED of lost: the compiler has put that function into caller"),
      std::string::npos)
      << a.misplaced[0];
}

TEST_F(a_program, that_is_stripped_keeps_what_needs_no_names) {
  write("a.c", c_source);
  built("gcc -O2 a.c");
  ASSERT_EQ(std::system(("strip " + (dir_ / "out").string()).c_str()), 0);
  const annotations a = annotations_of(module(dir_ / "out"));
  ASSERT_EQ(a.list.size(), 1U);
  EXPECT_EQ(a.list[0].kind, what::blocks);
  EXPECT_EQ(a.misplaced.size(), 4U);
  EXPECT_NE(a.misplaced[0].find("the program is stripped"), std::string::npos) << a.misplaced[0];
}

TEST_F(a_program, copies_and_cold_parts_belong_to_their_function) {
  write("a.c", R"~(
#include <nth/stack.h>
#include <stdlib.h>
__attribute__((noinline)) static int walk(int n, const int *p) {
  if (__builtin_expect(n < 0, 0)) { NTH_STACK_DEPTH(7); abort(); }
  return n == 0 ? *p : walk(n - 1, p) + 1;
}
int main(int argc, char **argv) { static const int one = 1; return walk(argc, &one) + (argv == 0); })~");
  const annotations a = built("gcc -O2 a.c");
  ASSERT_EQ(a.list.size(), 1U);
  EXPECT_TRUE(a.misplaced.empty());
  EXPECT_EQ(a.list[0].function.find("walk"), 0U) << a.list[0].function;
  EXPECT_EQ(a.list[0].function.find(".cold"), std::string::npos) << a.list[0].function;
}

TEST_F(a_program, with_a_damaged_section_is_read_without_harm) {
  write("a.s", ".section .nth_stack,\"\"\n.quad 0x6b7473687403, -1, 5, -1, -8, 7, 0\n"
               ".quad 0x6b7473687403, main, -5, main, main, 7, 0\n.quad 77, 0, 0, 0, 0, 0, 0\n.byte 1\n"
               ".text\n.globl main\n.type main,@function\nmain: ret\n"
               ".section .note.GNU-stack,\"\"\n");
  const annotations a = built("gcc -no-pie a.s");
  EXPECT_TRUE(a.list.empty());
  EXPECT_GE(a.misplaced.size(), 3U);
}

TEST_F(a_program, without_notes_has_none) {
  write("a.c", "#include <nth/stack.h>\nint main(void) { return 0; }\n");
  const annotations a = built("gcc a.c");
  EXPECT_TRUE(a.list.empty());
  EXPECT_TRUE(a.misplaced.empty());
}

} // namespace
} // namespace nth::stack
