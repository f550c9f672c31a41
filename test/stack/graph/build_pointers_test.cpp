// Calls through pointers: the functions whose address is taken, tables, vtables, streams, libraries alone.
#include "build_subject.hpp"

namespace nth::stack {
namespace {

constexpr const char *pointer_text =
    "typedef void (*fn)(void);\n"
    "#define F(name) __attribute__((noipa)) void name(void) { __asm__(\"\"); }\n"
    "F(in_data) F(in_code) F(in_const) F(not_taken) F(more_a) F(more_b)\n"
    "fn data[] = {in_data, more_a, more_b}; static const fn constant[] = {in_const, in_const}; volatile fn "
    "chosen;\n"
    "__attribute__((noipa)) void by_pointer(fn f) { f(); __asm__(\"\"); }\n"
    "__attribute__((noipa)) void by_global(void) { chosen(); __asm__(\"\"); }\n"
    "__attribute__((constructor)) void at_start(void) { __asm__(\"\"); }\n"
    "int main(int n, char **v) { chosen = in_code; by_pointer(data[n & 0]); by_pointer(constant[n & 1]);\n"
    "  by_global(); not_taken(); (void)v; return 0; }\n";

TEST(build_pointers, an_unknown_pointer_reaches_all_that_is_taken_and_no_more) {
  subject s;
  s.write("main.c", pointer_text);
  for (const char *how : {"-pie -fpie", "-no-pie -fno-pic", "-static", "-static-pie -fpie",
                          "-pie -fpie -Wl,-q", "-pie -fpie -Wl,-z,pack-relative-relocs"}) {
    s.run(std::string(subject::c) + "-Wl,-z,now -o main main.c start.c " + how);
    const call_graph g = build_call_graph(s.analyse("main"), {});
    for (const char *caller : {"by_pointer", "by_global"}) {
      const names reached = callees_of(g, caller);
      for (const char *callee : {"in_data", "in_code", "in_const"})
        EXPECT_EQ(reached.count(callee), 1U) << how << ' ' << caller << ' ' << callee;
      for (const char *not_callee : {"not_taken", "main", "at_start"})
        EXPECT_EQ(reached.count(not_callee), 0U) << how << ' ' << caller << ' ' << not_callee;
      EXPECT_TRUE(mentions(assumptions_of(g, caller), "start-up")) << how;
    }
    EXPECT_TRUE(g.nodes[node_named(g, "in_data")].address_taken) << how;
    EXPECT_FALSE(g.nodes[node_named(g, "not_taken")].address_taken) << how;
    EXPECT_EQ(g.nodes[node_named(g, "by_pointer")].indirect_sites, 1U) << how;
    build_options strict;
    strict.believe_start = false;
    const names all = callees_of(build_call_graph(s.analyse("main"), strict), "by_pointer");
    EXPECT_EQ(all.count("main"), 1U) << how;
    EXPECT_EQ(all.count("at_start"), 1U) << how;
  }
}

TEST(build_pointers, calls_of_one_set_share_it) {
  subject s;
  s.write("main.c", pointer_text);
  s.run(std::string(subject::c) + "-static -o main main.c start.c");
  const call_graph g = build_call_graph(s.analyse("main"), {});
  const auto one = g.calls_of(node_named(g, "by_pointer"));
  const auto two = g.calls_of(node_named(g, "by_global"));
  ASSERT_EQ(one.size(), 1U);
  ASSERT_EQ(two.size(), 1U);
  EXPECT_EQ(one.front().callee, two.front().callee);
  const call_node &set = g.nodes[one.front().callee];
  EXPECT_TRUE(set.is_set);
  EXPECT_EQ(set.frame, 0);
  EXPECT_EQ(set.touched, 0);
  for (const call_edge &e : g.calls_of(one.front().callee)) {
    EXPECT_EQ(e.kind, edge_kind::tail);
    EXPECT_EQ(e.depth, 0);
  }
}

TEST(build_pointers, another_modules_use_takes_an_exported_function) {
  subject s;
  s.write("lib.c", "void exported(void) { __asm__(\"\"); } void unused(void) { __asm__(\"\"); }\n"
                   "void calls_it(void (*f)(void)) { f(); __asm__(\"\"); }");
  s.write("main.c",
          "void exported(void); void calls_it(void (*)(void)); void (*volatile p)(void) = exported;\n"
          "int main(void) { calls_it(p); return 0; }");
  s.write(
      "code.c",
      "void exported(void); void calls_it(void (*)(void)); int main(void) { calls_it(exported); return 0; }");
  s.run(std::string(subject::c) + "-shared -fpic -o liba.so lib.c");
  for (const char *how :
       {"main.c -pie -fpie", "main.c -no-pie -fno-pic", "code.c -pie -fpie", "code.c -no-pie -fno-pic"}) {
    s.run(std::string(subject::c) + "-o main start.c -Wl,--no-as-needed -L. -la " + how + " -L. -la");
    const names reached = callees_of(build_call_graph(s.analyse("main"), {}), "calls_it");
    EXPECT_EQ(reached.count("exported"), 1U) << how;
    EXPECT_EQ(reached.count("unused"), 0U) << how;
  }
}

TEST(build_pointers, a_constant_table_gives_its_entries) {
  subject s;
  s.write("main.c",
          "typedef int (*fn)(int);\n"
          "#define F(n) static __attribute__((noipa)) int f##n(int x) { __asm__(\"\"); return x + n; }\n"
          "F(0) F(1) F(2) F(3) F(4) static const fn table[] = {f0, f1, f2, f3, f4};\n"
          "volatile fn other = f4;\n"
          "__attribute__((noipa)) int by_table(unsigned i) { return i < 4 ? table[i](1) + 1 : 0; }\n"
          "int main(int n, char **v) { (void)v; return by_table((unsigned)n); }");
  for (const char *how : {"-pie -fpie", "-no-pie -fno-pic"}) {
    s.run(std::string(subject::c) + "-O2 -o main main.c start.c " + how);
    const call_graph g = build_call_graph(s.analyse("main"), {});
    const names reached = callees_of(g, "by_table");
    EXPECT_EQ(reached, (names{"f0", "f1", "f2", "f3"})) << how;
    EXPECT_EQ(assumptions_of(g, "by_table"), names{""}) << how;
  }
}

constexpr const char *class_text =
    "struct shape { virtual int sides() = 0; virtual int id() { return 1; } virtual ~shape() {} };\n"
    "struct square : shape { int sides() override { return 4; } };\n"
    "struct other { virtual ~other() {} virtual int more(); }; int other::more() { return 7; }\n"
    "struct two : shape, other { int sides() override { return 2; } int more() override { return 8; } };\n"
    "struct three : two { int sides() override { return 3; } };\n"
    "struct wide { virtual int w0(); virtual int w1(); virtual int w2(); virtual int w3(); virtual int "
    "w4();\n"
    "  virtual int w5(); virtual int w6(); };\n"
    "#define W(n) int wide::w##n() { return n; }\n"
    "W(0) W(1) W(2) W(3) W(4) W(5) W(6) wide w;\n"
    "extern \"C\" __attribute__((noipa)) int by_wide(wide *p) { return p->w6() + 1; }\n"
    "__attribute__((noipa)) void callback() { asm(\"\"); } void (*volatile p)() = callback;\n"
    "extern \"C\" __attribute__((noipa)) int by_vtable(shape *s) { return s->sides() + 1; }\n"
    "extern \"C\" __attribute__((noipa)) int by_second(other *o) { return o->more() + 1; }\n"
    "square a; two b; three c; other d;\n"
    "extern \"C\" int main(int n, char **) { p(); shape *all[] = {&a, &b, &c}; other *two[] = {&b, &d};\n"
    "  return by_wide(&w) + by_vtable(all[n % 3]) + by_second(two[n % 2]); }\n";

// What libstdc++ would give.
constexpr const char *abi_text =
    "extern \"C\" { void *_ZTVN10__cxxabiv117__class_type_infoE[8], "
    "*_ZTVN10__cxxabiv120__si_class_type_infoE[8],\n"
    "  *_ZTVN10__cxxabiv121__vmi_class_type_infoE[8], *__dso_handle;\n"
    "void __cxa_pure_virtual() {} void _ZdlPvm() {} int __cxa_atexit() { return 0; } }\n";

TEST(build_pointers, a_virtual_call_reaches_what_is_at_its_offset_in_vtables) {
  subject s;
  s.write("main.cpp", class_text);
  s.write("abi.c", abi_text);
  s.run(std::string(subject::c) + "-fpie -c start.c");
  for (const char *how : {"-pie -fpie", "-no-pie -fno-pic", "-fno-rtti"}) {
    s.run(std::string(subject::cpp) + "-o main main.cpp abi.c start.o " + how);
    const call_graph g = build_call_graph(s.analyse("main"), {});
    const names reached = callees_of(g, "by_vtable");
    for (const char *f : {"square::sides()", "two::sides()", "three::sides()"})
      EXPECT_EQ(reached.count(f), 1U) << how << ' ' << f;
    EXPECT_EQ(reached.count("shape::id()"), 0U) << how;
    EXPECT_EQ(reached.count("callback()"), 0U) << how;
    EXPECT_TRUE(mentions(assumptions_of(g, "by_vtable"), "vtables")) << how;
    EXPECT_EQ(callees_of(g, "by_wide"), names{"wide::w6()"}) << how; // other tables are shorter
    const names second = callees_of(g, "by_second");
    EXPECT_EQ(second.count("other::more()"), 1U) << how;
    EXPECT_EQ(second.count("non-virtual thunk to two::more()"), 1U) << how;

    build_options strict;
    strict.believe_tables = false;
    EXPECT_EQ(callees_of(build_call_graph(s.analyse("main"), strict), "by_vtable").count("callback()"), 1U)
        << how;
  }
}

TEST(build_pointers, streams_call_through_libcs_own_tables) {
  subject s;
  s.write("main.c", "#include <stdio.h>\nint main(void) { return fputs(\"\", stdout); }");
  s.run("gcc -O1 -Wl,-z,now -o main main.c");
  const call_graph g = build_call_graph(s.analyse("main"), {});
  const std::uint32_t fputs_node = g.calls_of(node_named(g, "main")).front().callee;
  std::size_t through_table = 0;
  for (const call_edge &e : g.calls_of(fputs_node))
    if (g.assumptions[e.assumption].find("streams") != std::string::npos) {
      ++through_table;
      const std::size_t reached = g.nodes[e.callee].is_set ? g.calls_of(e.callee).size() : 1;
      EXPECT_LT(reached, 20U); // of the hundreds whose address is taken
    }
  EXPECT_GE(through_table, 1U);
}

TEST(build_pointers, a_library_alone_calls_out_into_the_unknown) {
  subject s;
  s.write("lib.c", "void calls_it(void (*f)(void)) { f(); __asm__(\"\"); }");
  s.run(std::string(subject::c) + "-shared -fpic -o liba.so lib.c");
  const call_graph g = build_call_graph(s.analyse("liba.so"), {});
  EXPECT_EQ(callees_of(g, "calls_it"), names{});
  EXPECT_TRUE(mentions(open_of(g, "calls_it"), "any function of the program"));
}

TEST(build_pointers, a_relative_table_takes_its_functions) {
  subject s;
  s.write("table.S", ".section .rodata\n.globl table\n.type table,@object\n"
                     "table: .long f0 - table\n.long f1 - table\n.long f2 - table\n.size table, 12\n"
                     ".section .note.GNU-stack,\"\",@progbits\n");
  s.write(
      "main.c",
      "#define F(n) __attribute__((noipa)) int f##n(int x) { __asm__(\"\"); return x + n; }\n"
      "F(0) F(1) F(2) F(3)\n"
      "extern const int table[]; typedef int (*fn)(int);\n"
      "__attribute__((noipa)) int by_pointer(fn f) { return f(1) + 1; }\n"
      "int main(int n, char **v) { (void)v; return by_pointer((fn)((const char *)table + table[n % 3])); }");
  s.run(std::string(subject::c) + "-Wl,-q -o main main.c start.c table.S"); // kept relocations alone tell
  const names reached = callees_of(build_call_graph(s.analyse("main"), {}), "by_pointer");
  for (const char *f : {"f0", "f1", "f2"})
    EXPECT_EQ(reached.count(f), 1U) << f;
}

} // namespace
} // namespace nth::stack
