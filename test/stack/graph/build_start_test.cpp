// Start-up code, what it runs, and tables that code of fixed addresses names by immediate operands.
#include "build_subject.hpp"

namespace nth::stack {
namespace {

using names = std::set<std::string>;

constexpr const char *streams = R"(
typedef void (*fn)(void);
#define F(name) __attribute__((noipa)) void name(void) { __asm__(""); }
F(first) F(second) F(third) F(fourth) F(elsewhere)
__attribute__((section("__libc_IO_vtables"), used)) fn tables[] = {0, 0, first, second, 0, 0, third, fourth};
fn volatile other = elsewhere;
__attribute__((noipa)) void check(void *a, void *b) { __asm__("" :: "r"(a), "r"(b)); }
struct stream { long state; fn *functions; };
__attribute__((noipa)) void by_stream(struct stream *s, void *told) {
  void *begin;
  __asm__(LOAD : "=r"(begin));
  check(begin, told);
  s->functions[2]();
  __asm__("");
}
int main(int n, char **v) { struct stream s = {0, tables + 4 * (n > 1)}; by_stream(&s, v); other(); return 0; }
)";

TEST(build_start, tables_of_streams_are_known_by_any_instruction_that_names_them) {
  subject s;
  s.write("main.c", streams);
  const std::string link = " -o main main.c start.c ";
  for (const char *how : {"-DLOAD='\"mov $tables, %0\"' -static", "-DLOAD='\"movl $tables, %k0\"' -static",
                          "-DLOAD='\"lea tables(%%rip), %0\"' -static",
                          "-DLOAD='\"lea tables(%%rip), %0\"' -pie -fpie -Wl,-z,now"}) {
    s.run(subject::c + link + how);
    const call_graph g = build_call_graph(s.analyse("main"), {});
    EXPECT_EQ(callees_of(g, "by_stream"), (names{"check", "first", "third"})) << how;
    EXPECT_TRUE(mentions(assumptions_of(g, "by_stream"), "streams")) << how;
  }
  // A number that is no address there.
  s.run(subject::c + link + "-DLOAD='\"mov $8, %0\"' -static");
  EXPECT_EQ(callees_of(build_call_graph(s.analyse("main"), {}), "by_stream").count("elsewhere"), 1U);
}

// As glibc's static start-up code runs them: forwards, and backwards from one word before the first.
constexpr const char *arrays = R"(
typedef void (*fn)(void);
#define F(name) __attribute__((noipa)) void name(void) { __asm__(""); }
F(elsewhere) fn volatile other = elsewhere;
__attribute__((constructor, noipa)) void made(void) { __asm__(""); }
__attribute__((destructor, noipa)) void unmade(void) { __asm__(""); }
__attribute__((destructor, noipa)) void unmade_later(void) { __asm__("nop"); }
extern const fn __init_array_start[] __attribute__((visibility("hidden")));
extern const fn __init_array_end[] __attribute__((visibility("hidden")));
extern const fn __fini_array_start[] __attribute__((visibility("hidden")));
extern const fn __fini_array_end[] __attribute__((visibility("hidden")));
__attribute__((noipa)) void run_init(void) {
  for (unsigned long i = 0; i < (unsigned long)(__init_array_end - __init_array_start); ++i) __init_array_start[i]();
}
__attribute__((noipa)) void run_fini(void) {
  for (unsigned long i = __fini_array_end - __fini_array_start; i-- > 0;) __fini_array_start[i]();
}
int main(void) { run_init(); other(); run_fini(); return 0; }
)";

TEST(build_start, arrays_of_constructors_and_destructors_give_their_entries) {
  subject s;
  s.write("main.c", arrays);
  for (const char *how : {"-O2 -static", "-O2 -static -fno-pic -no-pie", "-O2 -pie -fpie -Wl,-z,now"}) {
    s.run(std::string(subject::c) + "-o main main.c start.c " + how);
    const call_graph g = build_call_graph(s.analyse("main"), {});
    for (const char *caller : {"run_init", "run_fini"}) {
      const names reached = callees_of(g, caller);
      for (const char *callee : {"unmade", "unmade_later"})
        EXPECT_EQ(reached.count(callee) != 0, true) << how << ' ' << caller << ' ' << callee;
      EXPECT_EQ(reached.count("elsewhere"), 0U) << how << ' ' << caller;
    }
    EXPECT_EQ(callees_of(g, "run_init").count("made"), 1U) << how;
  }
}

// A table right behind the last array, and the last word of one right before the first.
TEST(build_start, a_table_beside_the_arrays_is_another) {
  subject s;
  s.write("table.S", ".section .mine,\"a\",@progbits\n.globl table\n.type table,@object\n"
                     "table: .quad first\n.quad second\n.size table, 16\n"
                     ".section .fini_array,\"a\",@fini_array\n.quad unmade\n"
                     ".section .note.GNU-stack,\"\",@progbits\n");
  s.write("main.c", R"(
typedef void (*fn)(void);
#define F(name) __attribute__((noipa)) void name(void) { __asm__(""); }
F(first) F(second) F(unmade)
extern const fn table[];
__attribute__((noipa)) void by_table(long i) { table[i](); __asm__(""); }
__attribute__((noipa)) void by_end(long i) { table[i + 1](); __asm__(""); }
int main(int n, char **v) { (void)v; by_table(n - 1); by_end(n - 1); return 0; }
)");
  for (const char *place : {"-Wl,--section-start=.fini_array=0x600000,--section-start=.mine=0x600008",
                            "-Wl,--section-start=.fini_array=0x600010,--section-start=.mine=0x600000"}) {
    s.run(std::string(subject::c) + "-static -fno-pic -no-pie -o main main.c table.S start.c " + place);
    const call_graph g = build_call_graph(s.analyse("main"), {});
    EXPECT_EQ(callees_of(g, "by_table"), (names{"first", "second"})) << place;
    EXPECT_EQ(callees_of(g, "by_end"), names{"second"}) << place;
  }
}

constexpr const char *with_starter = R"(
__attribute__((noipa)) void ends(int n) { (void)n; for (;;) __asm__("hlt"); }
__attribute__((noipa)) void runs_one(void (*f)(void)) { f(); __asm__(""); }
void (*volatile last)(void);
__attribute__((noipa)) void __libc_start_main(int (*m)(int, char **)) { runs_one(last); ends(m(1, 0)); }
__asm__(".globl _start\n.type _start,@function\n"
        "_start: mov $main,%rdi\n call __libc_start_main\n.size _start,.-_start");
)";
constexpr const char *with_pointer = R"(
__attribute__((noipa)) void other(void) { __asm__(""); }
extern void (*volatile last)(void);
__attribute__((noipa)) void by_pointer(void (*f)(void)) { f(); __asm__(""); }
int main(int n, char **v) { (void)v; last = other; by_pointer(n > 1 ? last : other); return 0; }
)";

TEST(build_start, main_is_called_by_those_alone_who_get_it) {
  subject s;
  s.write("starter.c", with_starter);
  s.write("main.c", with_pointer);
  s.run(std::string(subject::c) + "-static -o main main.c starter.c");
  const program p = s.analyse("main");
  build_options strict;
  strict.believe_start = false;
  strict.believe_signatures = false;
  const call_graph proved = build_call_graph(p, strict);
  EXPECT_EQ(callees_of(proved, "by_pointer").count("main"), 0U);
  EXPECT_EQ(assumptions_of(proved, "by_pointer"), names{""});
  EXPECT_EQ(callees_of(proved, "__libc_start_main").count("main"), 1U);
  // What start-up code runs before main returns to it.
  const call_graph g = build_call_graph(p, {});
  EXPECT_EQ(callees_of(g, "__libc_start_main").count("main"), 1U);
  EXPECT_EQ(callees_of(g, "runs_one"), names{"other"});
  EXPECT_TRUE(mentions(assumptions_of(g, "runs_one"), "start-up"));
  EXPECT_EQ(callees_of(g, "__libc_start_main").count("_start"), 0U);
}

TEST(build_start, main_in_a_pointer_of_the_program_is_called_through_it) {
  subject s;
  s.write("starter.c", with_starter);
  s.write("main.c", std::string(with_pointer) + "int (*volatile again)(int, char **) = main;\n");
  s.run(std::string(subject::c) + "-static -o main main.c starter.c");
  const program p = s.analyse("main");
  for (const bool believe : {false, true}) {
    build_options o;
    o.believe_start = believe;
    o.believe_signatures = false;
    EXPECT_EQ(callees_of(build_call_graph(p, o), "by_pointer").count("main"), 1U) << believe;
  }
}

} // namespace
} // namespace nth::stack
