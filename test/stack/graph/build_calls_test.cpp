// Calls that name their callee: in the module, through the PLT, the GOT, by version, weak, missing, ifuncs.
#include "build_subject.hpp"

namespace nth::stack {
namespace {

TEST(build_calls, in_the_module_and_through_the_plt_and_the_got) {
  subject s;
  s.write("lib.c", "void far_one(void) { __asm__(\"\"); } void far_two(void) { far_one(); }");
  s.write("main.c", "void far_one(void); void far_two(void);\n"
                    "static __attribute__((noipa)) void near(void) { far_one(); far_two(); }\n"
                    "int main(void) { near(); near(); return 0; }");
  s.run(std::string(subject::c) + "-shared -fpic -o libfar.so lib.c");
  for (const char *how : {"-pie -fpie -Wl,-z,now", "-pie -fpie -fno-plt", "-no-pie -fno-pic -Wl,-z,now"}) {
    s.run(std::string(subject::c) + how + " -o main main.c start.c -L. -lfar");
    const call_graph g = build_call_graph(s.analyse("main"), {});
    EXPECT_EQ(callees_of(g, "main"), names{"near"}) << how;
    EXPECT_EQ(callees_of(g, "near"), (names{"far_one", "far_two"})) << how;
    EXPECT_EQ(g.nodes[node_named(g, "far_one")].module, "libfar.so") << how;
    EXPECT_EQ(assumptions_of(g, "near"), names{""}) << how;
    EXPECT_EQ(open_of(g, "near"), names{}) << how;
    EXPECT_EQ(g.nodes[node_named(g, "main")].call_sites, 2U) << how;
    EXPECT_EQ(g.nodes[node_named(g, "near")].indirect_sites, 0U) << how;
  }
}

TEST(build_calls, lazily_bound_ones_are_assumed_bound_or_run_the_resolver) {
  subject s;
  s.write("lib.c", "void far_one(void) { __asm__(\"\"); }");
  s.write("main.c", "void far_one(void); int main(void) { far_one(); return 0; }");
  s.run(std::string(subject::c) + "-shared -fpic -o libfar.so lib.c");
  s.run(std::string(subject::c) + "-Wl,-z,lazy -o main main.c start.c -L. -lfar");
  const program p = s.analyse("main");
  const call_graph assumed = build_call_graph(p, {});
  EXPECT_EQ(callees_of(assumed, "main"), names{"far_one"});
  EXPECT_TRUE(mentions(assumptions_of(assumed, "main"), "LD_BIND_NOW"));

  build_options counted;
  counted.resolver_on_lazy_calls = true;
  const call_graph g = build_call_graph(p, counted);
  EXPECT_EQ(assumptions_of(g, "main"), names{""});
  std::size_t bindings = 0;
  for (const call_edge &e : g.calls_of(node_named(g, "main")))
    if (e.kind == edge_kind::lazy_binding) {
      ++bindings;
      EXPECT_TRUE(g.nodes[e.callee].module.starts_with("ld-linux")) << g.nodes[e.callee].module;
      EXPECT_GE(e.depth, 16); // the PLT has pushed two words
    }
  EXPECT_GE(bindings, 1U);
  EXPECT_EQ(callees_of(g, "main").count("far_one"), 1U);
}

TEST(build_calls, the_first_module_that_defines_a_symbol_wins) {
  subject s;
  s.write("one.c", "void twice(void) { __asm__(\"\"); }");
  s.write("two.c", "void twice(void) { __asm__(\"\"); } void calls_twice(void) { twice(); __asm__(\"\"); }");
  s.write("main.c",
          "void calls_twice(void); void twice(void); int main(void) { calls_twice(); twice(); return 0; }");
  s.run(std::string(subject::c) + "-shared -fpic -Wl,-z,now -o libone.so one.c");
  s.run(std::string(subject::c) + "-shared -fpic -Wl,-z,now -o libtwo.so two.c");
  s.run(std::string(subject::c) + "-Wl,-z,now -o main main.c start.c -L. -Wl,--no-as-needed -lone -ltwo");
  const call_graph g = build_call_graph(s.analyse("main"), {});
  for (const char *caller : {"main", "calls_twice"})
    for (const call_edge &e : g.calls_of(node_named(g, caller)))
      EXPECT_TRUE(g.nodes[e.callee].name != "twice" || g.nodes[e.callee].module == "libone.so") << caller;
  EXPECT_EQ(callees_of(g, "calls_twice"), names{"twice"});
}

TEST(build_calls, versions_of_a_symbol_are_told_apart) {
  subject s;
  s.write("lib.c", "__asm__(\".symver old_f, f@V1\"); __asm__(\".symver new_f, f@@V2\");\n"
                   "void old_f(void) { __asm__(\"nop\"); } void new_f(void) { __asm__(\"nop;nop\"); }");
  s.write("lib.map", "V1 { global: f; local: *; }; V2 { global: f; } V1;");
  s.write("main.c", "void f(void); void f1(void); __asm__(\".symver f1, f@V1\");\n"
                    "__attribute__((noipa)) void calls_old(void) { f1(); __asm__(\"\"); }\n"
                    "__attribute__((noipa)) void calls_new(void) { f(); __asm__(\"\"); }\n"
                    "int main(void) { calls_old(); calls_new(); return 0; }");
  s.run(std::string(subject::c) + "-shared -fpic -o libv.so lib.c -Wl,--version-script=lib.map");
  s.run(std::string(subject::c) + "-Wl,-z,now -o main main.c start.c -L. -lv");
  const call_graph g = build_call_graph(s.analyse("main"), {});
  const auto callee = [&](const char *caller) {
    const auto calls = g.calls_of(node_named(g, caller));
    EXPECT_EQ(calls.size(), 1U) << caller;
    return calls.empty() ? no_function : calls.front().callee;
  };
  EXPECT_NE(callee("calls_old"), callee("calls_new"));
}

TEST(build_calls, a_weak_symbol_that_nobody_defines_is_not_called) {
  subject s;
  s.write("main.c", "__attribute__((weak)) void nowhere(void);\n"
                    "__attribute__((noipa)) void maybe(void) { if (nowhere) nowhere(); }\n"
                    "int main(void) { maybe(); return 0; }");
  for (const char *how : {"-pie -fpie -Wl,-z,now", "-no-pie -fno-pic", "-static"}) {
    s.run(std::string(subject::c) + how + " -o main main.c start.c");
    const call_graph g = build_call_graph(s.analyse("main"), {});
    EXPECT_EQ(callees_of(g, "maybe"), names{}) << how;
    EXPECT_EQ(open_of(g, "maybe"), names{}) << how;
  }
}

TEST(build_calls, a_missing_library_is_named) {
  subject s;
  s.write("lib.c", "void far_one(void) { __asm__(\"\"); }");
  s.write("main.c", "void far_one(void);\n"
                    "__attribute__((noipa)) void any(void (*f)(void)) { f(); __asm__(\"\"); }\n"
                    "int main(void) { far_one(); any(far_one); return 0; }");
  s.run(std::string(subject::c) + "-shared -fpic -Wl,-soname,libgone.so.7 -o libgone.so lib.c");
  s.run(std::string(subject::c) + "-Wl,-z,now -o main main.c start.c -L. -lgone && rm libgone.so");
  const call_graph g = build_call_graph(s.analyse("main"), {});
  EXPECT_TRUE(mentions(open_of(g, "main"), "libgone.so.7"));
  EXPECT_TRUE(mentions(open_of(g, "any"), "not found"));
}

TEST(build_calls, an_ifunc_may_be_any_that_its_resolver_answers) {
  const std::string text =
      "static void fast(void) { __asm__(\"nop\"); } static void slow(void) { __asm__(\"\"); }\n"
      "extern int which;\n"
      "static __attribute__((noipa)) void *choose(void) { return which ? fast : slow; }\n"
      "static void *resolve_f(void) { return choose(); }\n"
      "void f(void) __attribute__((ifunc(\"resolve_f\")));\n"
      "int which = 1; void not_it(void) { __asm__(\"\"); }\n";
  subject s;
  s.write("lib.c", text);
  s.write("both.c", text + "void g(void) { f(); __asm__(\"\"); } int main(void) { g(); return 0; }");
  s.write("main.c", "void f(void); void g(void) { f(); __asm__(\"\"); } int main(void) { g(); return 0; }");
  s.run(std::string(subject::c) + "-shared -fpic -o libf.so lib.c");
  s.run(std::string(subject::c) + "-Wl,-z,now -o far main.c start.c -L. -lf");
  s.run(std::string(subject::c) + "-fpie -pie -Wl,-z,now -o near both.c start.c");
  s.run(std::string(subject::c) + "-static -o fixed both.c start.c");
  for (const char *file : {"far", "near", "fixed"}) {
    const call_graph g = build_call_graph(s.analyse(file), {});
    EXPECT_EQ(callees_of(g, "g"), (names{"fast", "slow"})) << file;
    EXPECT_EQ(assumptions_of(g, "g"), names{""}) << file;
  }
}

TEST(build_calls, tail_calls_are_edges_of_their_kind) {
  subject s;
  s.write("main.c", "__attribute__((noipa)) int last(int x) { __asm__(\"\"); return x; }\n"
                    "__attribute__((noipa)) int jumps(int x) { return last(x + 1); }\n"
                    "int main(void) { return jumps(1) + 1; }");
  s.run(std::string(subject::c) + "-O2 -o main main.c start.c");
  const call_graph g = build_call_graph(s.analyse("main"), {});
  const auto calls = g.calls_of(node_named(g, "jumps"));
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(calls.front().kind, edge_kind::tail);
  EXPECT_EQ(calls.front().depth, 0);
  EXPECT_EQ(g.nodes[calls.front().callee].name, "last");
}

} // namespace
} // namespace nth::stack
