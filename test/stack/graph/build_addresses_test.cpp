// Addresses of functions that are put together, kept in few bytes or read from tables, and names that more than one
// module defines.
#include "build_subject.hpp"

namespace nth::stack {
namespace {

using names = std::set<std::string>;

bool there_is(const char *compiler) {
  return std::system((std::string("command -v ") + compiler + " >/dev/null").c_str()) == 0;
}

TEST(build_addresses, sums_with_the_offset_table_take_functions) {
  subject s;
  s.write("main.c",
          "typedef void (*fn)(void); volatile fn chosen;\n"
          "#define F(name) __attribute__((noinline)) static void name(void) { __asm__ volatile(\"\"); }\n"
          "F(taken) F(taken_later) F(only_called)\n"
          "__attribute__((noinline)) void by_pointer(void) { chosen(); __asm__(\"\"); }\n"
          "__attribute__((noinline)) void chooses(void) { chosen = taken; only_called(); chosen = "
          "taken_later; }\n"
          "int main(void) { chooses(); by_pointer(); return 0; }\n");
  for (const char *compiler : {"gcc", "clang"})
    for (const char *how : {"-O0", "-O1", "-O2"}) {
      if (!there_is(compiler))
        continue;
      s.run(std::string(compiler) + " -nostdlib -fno-stack-protector -mcmodel=large -fpie -c main.c " + how);
      s.run(std::string(subject::c) + "-fpie -pie -o main main.o start.c");
      const names reached = callees_of(build_call_graph(s.analyse("main"), {}), "by_pointer");
      EXPECT_EQ(reached.count("taken"), 1U) << compiler << how;
      EXPECT_EQ(reached.count("taken_later"), 1U) << compiler << how;
    }
}

TEST(build_addresses, four_bytes_hold_a_function_of_a_program_with_fixed_addresses) {
  subject s;
  s.write("table.S", ".data\n.globl table, odd\n.byte 1\nodd: .long f1\n.p2align 2\ntable: .long f0\n"
                     ".section .note.GNU-stack,\"\",@progbits\n");
  s.write("main.c", "#define F(n) __attribute__((noipa)) void f##n(void) { __asm__(\"\"); }\n"
                    "F(0) F(1) F(2) extern const unsigned table[]; typedef void (*fn)(void);\n"
                    "__attribute__((noipa)) void by_pointer(fn f) { f(); __asm__(\"\"); }\n"
                    "int main(int n, char **v) { (void)v; by_pointer((fn)(long)table[n]); return 0; }\n");
  s.run(std::string(subject::c) + "-no-pie -fno-pie -o main main.c start.c table.S");
  const names reached = callees_of(build_call_graph(s.analyse("main"), {}), "by_pointer");
  EXPECT_EQ(reached.count("f0"), 1U);
  EXPECT_EQ(reached.count("f1"), 1U);
  EXPECT_EQ(reached.count("f2"), 0U);
}

TEST(build_addresses, a_resolver_may_answer_what_a_table_holds) {
  subject s;
  s.write("main.c",
          "#define F(name) static __attribute__((noipa)) int name(void) { __asm__(\"\"); return 1; }\n"
          "F(plain) F(fast) F(fastest) F(in_struct) F(elsewhere)\n"
          "typedef int (*fn)(void); static const fn table[] = {plain, fast, fastest};\n"
          "static struct { const char *name; fn f; } named[] = {{\"a\", plain}, {\"b\", plain}, {\"c\", "
          "plain}, {\"d\", "
          "plain},\n"
          "  {\"e\", plain}, {\"f\", plain}, {\"g\", plain}, {\"h\", in_struct}, {0, 0}};\n"
          "volatile fn other = elsewhere; int which;\n"
          "static fn choose(void) { return which == 9 ? plain : table[which % 3]; }\n"
          "static fn search(void) { for (unsigned i = 0; named[i].name; ++i) if (named[i].name[0] == which) "
          "return named[i].f; return plain; }\n"
          "int chosen(void) __attribute__((ifunc(\"choose\"))); int found(void) "
          "__attribute__((ifunc(\"search\")));\n"
          "__attribute__((noipa)) int by_table(void) { return chosen() + 1; }\n"
          "__attribute__((noipa)) int by_search(void) { return found() + 1; }\n"
          "int main(void) { return by_table() + by_search() + other(); }\n");
  for (const char *how : {"-O1 -pie -fpie", "-O2 -pie -fpie", "-O1 -no-pie -fno-pie", "-O0 -static"}) {
    s.run(std::string(subject::c) + "-o main main.c start.c " + how);
    const call_graph g = build_call_graph(s.analyse("main"), {});
    const names reached = callees_of(g, "by_table");
    for (const char *f : {"plain", "fast", "fastest"})
      EXPECT_EQ(reached.count(f), 1U) << how << ' ' << f;
    EXPECT_EQ(reached.count("elsewhere"), 0U) << how;
    EXPECT_EQ(callees_of(g, "by_search").count("in_struct"), 1U) << how;
  }
}

// The linker keeps relocations of debug information and notes, too (-q).
TEST(build_addresses, what_is_not_loaded_takes_nothing) {
  subject s;
  s.write("notes.S", ".section .nth_note,\"\",@progbits\n.quad not_taken\n.long not_taken - .\n"
                     ".section .note.GNU-stack,\"\",@progbits\n");
  s.write("main.c", "#define F(name) __attribute__((noipa)) void name(void) { __asm__(\"\"); }\n"
                    "F(taken) F(not_taken) typedef void (*fn)(void); volatile fn chosen = taken;\n"
                    "__attribute__((noipa)) void by_pointer(void) { chosen(); __asm__(\"\"); }\n"
                    "int main(void) { not_taken(); by_pointer(); return 0; }\n");
  for (const char *how : {"-g -pie -fpie", "-g -no-pie -fno-pie"}) {
    s.run(std::string(subject::c) + "-Wl,-q -o main main.c start.c notes.S " + how);
    const names reached = callees_of(build_call_graph(s.analyse("main"), {}), "by_pointer");
    EXPECT_EQ(reached.count("taken"), 1U) << how;
    EXPECT_EQ(reached.count("not_taken"), 0U) << how;
  }
}

// In the library a call of what never returns ends the function, so that nothing behind it is looked at.
constexpr const char *library_text =
    "void quick_exit(int); __attribute__((noipa)) void behind_import(void) { __asm__(\"\"); }\n"
    "__attribute__((noipa)) void behind_own(void) { __asm__(\"\"); }\n"
    "__attribute__((noipa)) void stops(void) { for (;;) __asm__(\"hlt\"); }\n"
    "__attribute__((noipa)) void calls_import(void) { quick_exit(1); behind_import(); __asm__(\"\"); }\n"
    "void thrd_exit(int s) { (void)s; __asm__(\"\"); }\n"
    "__attribute__((noipa)) void calls_own(void) { stops(); behind_own(); __asm__(\"\"); }\n";

TEST(build_addresses, a_name_that_another_module_defines_is_not_believed) {
  subject s;
  s.write("lib.c", library_text);
  s.write("ends.c", "void quick_exit(int s) { (void)s; for (;;) __asm__(\"hlt\"); }");
  s.write("returns.c",
          "void quick_exit(int s) { (void)s; __asm__(\"\"); } void stops(void) { __asm__(\"\"); }");
  s.write("main.c",
          "void calls_import(void); void calls_own(void); void thrd_exit(int);\n"
          "__attribute__((noipa)) void behind_exit(void) { __asm__(\"\"); }\n"
          "int main(void) { thrd_exit(1); behind_exit(); calls_import(); calls_own(); return 0; }\n");
  const std::string link =
      std::string(subject::c) + "-pie -fpie -Wl,--no-as-needed -Wl,-E -L. -o main start.c main.c ";
  s.run(std::string(subject::c) + "-shared -fpic -o libends.so ends.c");
  s.run(std::string(subject::c) + "-shared -fpic -o libreturns.so returns.c");
  s.run(std::string(subject::c) + "-shared -fpic -o liba.so lib.c -L. -Wl,--no-as-needed");

  for (const char *how : {"-la -lends", "-lends -la"}) {
    s.run(link + how);
    EXPECT_EQ(callees_of(build_call_graph(s.analyse("main"), {}), "calls_import").count("behind_import"), 0U)
        << how;
  }
  for (const char *how : {"returns.c -la -lends", "-lreturns -la -lends", "-la -lreturns"}) {
    s.run(link + how);
    const call_graph g = build_call_graph(s.analyse("main"), {});
    EXPECT_EQ(callees_of(g, "calls_import").count("behind_import"), 1U) << how;
    EXPECT_EQ(callees_of(g, "main").count("behind_exit"), 1U) << how;
    // The library's own comes first where it is loaded before the other.
    const bool own = std::string(how) == "-la -lreturns";
    EXPECT_EQ(callees_of(g, "calls_own").count("behind_own"), own ? 0U : 1U) << how;
  }
}

} // namespace
} // namespace nth::stack
