// Calls through pointers reach no function that takes more arguments than they pass.
#include "build_subject.hpp"

namespace nth::stack {
namespace {

using names = std::set<std::string>;

// Every pointer can be written, so that a call may reach whatever is in any of them.
constexpr const char *callbacks =
    "#include <stdarg.h>\n"
    "#define K __attribute__((noinline)) \n"
    "typedef int (*none)(void); typedef int (*one)(long); typedef int (*two)(void *, long);\n"
    "typedef double (*real)(double, double);\n"
    "K int takes_none(void) { return 1; }\n"
    "K int takes_one(long a) { return (int)(a * 3); }\n"
    "K int takes_two(void *a, long b) { return (int)(*(int *)a + b); }\n"
    "K int takes_three(void *a, long b, int *c) { return (int)(*(int *)a + b + *c); }\n"
    "K int looks_at_one(long a, long b, long c) { (void)b; (void)c; return (int)(a * 5); }\n"
    "K double takes_reals(double a, double b) { return a / b; }\n"
    "struct large { long a, b, c; };\n"
    "K int takes_memory(struct large l) { return (int)l.c; }\n"
    "K struct large gives_memory(long a) { struct large l = {a, a, a}; return l; }\n"
    "K int takes_any(const char *f, ...) { va_list v; va_start(v, f); long n = *va_arg(v, long *);\n"
    "  va_end(v); return (int)n + *f; }\n"
    "none volatile of_none = takes_none; one volatile of_one = takes_one; two volatile of_two = takes_two;\n"
    "real volatile of_real = takes_reals;\n"
    "int (*volatile of_three)(void *, long, int *) = takes_three;\n"
    "int (*volatile of_any)(const char *, ...) = takes_any;\n"
    "int (*volatile of_memory)(struct large) = takes_memory;\n"
    "struct large (*volatile of_large)(long) = gives_memory;\n"
    "int (*volatile of_unused)(long, long, long) = looks_at_one;\n"
    "K int after_none(void) { int n = of_none(); return of_none() + n; }\n"
    "K int after_one(void) { int n = of_none(); return of_one(7) + n; }\n"
    "K int by_none(void) { return of_none() + 1; }\n"
    "K int by_one(long a) { return of_one(a + 1) + 1; }\n"
    "K int by_two(void *a, long b) { return of_two(a, b + 1) + 1; }\n"
    "K double by_real(double a, double b) { return of_real(b, a) + 1; }\n"
    "int main(int n, char **v) { struct large l = {n, n, n}; l = of_large(n); by_real(1, 2); after_none();\n"
    "  of_memory(l); of_three(v, n, &n); of_any(\"\", &n); of_unused(n, 1, 2);\n"
    "  return by_none() + by_one(n) + by_two(v, n) + after_one(); }\n";

// Those of `all` whose names have the beginning.
names of_takers(const names &all) {
  names takers;
  for (const std::string &n : all)
    if (n.starts_with("takes_") || n.starts_with("looks_") || n.starts_with("gives_"))
      takers.insert(n);
  return takers;
}

// Of the last call in the function, by address.
names takers_at_last_call(const call_graph &g, const std::string &caller) {
  const auto edges = g.calls_of(node_named(g, caller));
  const address last = edges.empty() ? 0 : edges.back().at;
  names all;
  for (const call_edge &e : edges)
    if (e.at == last && g.nodes[e.callee].is_set)
      for (const call_edge &member : g.calls_of(e.callee))
        all.insert(g.nodes[member.callee].name);
    else if (e.at == last)
      all.insert(g.nodes[e.callee].name);
  return of_takers(all);
}

bool there_is_clang() { return std::system("clang --version >/dev/null 2>&1") == 0; }

std::vector<std::string> compilers() {
  std::vector<std::string> all = {"gcc -fno-ipa-icf "};
  if (there_is_clang())
    all.emplace_back("clang ");
  return all;
}

constexpr const char *options = " -nostdlib -fno-stack-protector -fno-builtin -w -static -o main ";

TEST(build_signatures, debug_information_tells_what_a_function_takes) {
  subject s;
  s.write("main.c", callbacks);
  const names at_most_none = {"takes_none", "takes_memory", "takes_any"};
  for (const std::string &compiler : compilers())
    for (const char *how : {"-g -O0", "-g -O2", "-g -O2 -gdwarf-4"}) {
      s.run(compiler + how + options + "main.c start.c");
      const call_graph g = build_call_graph(s.analyse("main"), {});
      const std::string where = compiler + how;
      EXPECT_EQ(of_takers(callees_of(g, "by_none")), at_most_none) << where;
      EXPECT_EQ(of_takers(callees_of(g, "by_one")),
                (names{"takes_none", "takes_one", "takes_memory", "takes_any"}))
          << where;
      EXPECT_EQ(of_takers(callees_of(g, "by_real")).count("takes_reals"), 1U) << where;
      for (const char *caller : {"by_none", "by_one"})
        EXPECT_TRUE(mentions(assumptions_of(g, caller), "with all arguments")) << where << ' ' << caller;
      if (how == std::string("-g -O0"))
        continue; // registers of arguments hold what is computed on the way, too
      const names two = of_takers(callees_of(g, "by_two"));
      for (const char *fits : {"takes_none", "takes_one", "takes_two", "takes_any", "gives_memory"})
        EXPECT_EQ(two.count(fits), 1U) << where << ' ' << fits;
      EXPECT_EQ(two.count("takes_three"), 0U) << where;
      EXPECT_EQ(two.count("looks_at_one"), 0U) << where;
      EXPECT_EQ(two.count("takes_reals"), 0U) << where;
      EXPECT_EQ(of_takers(callees_of(g, "by_real")).count("takes_two"), 0U) << where;
    }
}

TEST(build_signatures, code_tells_it_too) {
  subject s;
  s.write("main.c", callbacks);
  for (const std::string &compiler : compilers()) {
    s.run(compiler + "-O2" + options + "main.c start.c");
    const call_graph g = build_call_graph(s.analyse("main"), {});
    // What the registers hold at the first call is not known: arguments may be passed on.
    EXPECT_EQ(of_takers(callees_of(g, "by_one")).size(), 9U) << compiler;
    // A call before it has left nothing in them.
    const names one = takers_at_last_call(g, "after_one");
    for (const char *fits : {"takes_none", "takes_one", "takes_memory", "looks_at_one", "takes_any"})
      EXPECT_EQ(one.count(fits), 1U) << compiler << ' ' << fits;
    for (const char *more : {"takes_two", "takes_three"})
      EXPECT_EQ(one.count(more), 0U) << compiler << ' ' << more;
    EXPECT_TRUE(mentions(assumptions_of(g, "after_one"), "with all arguments")) << compiler;
  }
}

TEST(build_signatures, a_function_that_keeps_its_arguments_in_its_frame_may_be_variadic) {
  subject s;
  s.write("main.c", callbacks);
  for (const std::string &compiler : compilers()) {
    s.run(compiler + "-O0" + options + "main.c start.c");
    const call_graph g = build_call_graph(s.analyse("main"), {});
    EXPECT_EQ(takers_at_last_call(g, "after_one").size(), 9U) << compiler;
  }
}

// What is believed, and what no longer is where it does not hold.
TEST(build_signatures, a_cast_that_drops_arguments_is_not_seen_unless_asked_for) {
  subject s;
  s.write("main.c", "#define K __attribute__((noinline))\n"
                    "typedef int (*one)(long);\n"
                    "K int right(long a) { return (int)a * 3; }\n"
                    "K int cast(long a, long b) { return (int)(a * b); }\n"
                    "K int old(a, b) long a, b; { return (int)(a - b); }\n"
                    "one volatile p = right; one volatile q = (one)cast; one volatile r = (one)old;\n"
                    "K int by_one(long a) { return p(a) + 1; }\n"
                    "int main(int n, char **v) { (void)v; return by_one(n) + q(n) + r(n); }\n");
  s.run(std::string("gcc -g -O2 -fno-ipa-icf -Wno-cast-function-type") + options + "main.c start.c");
  const program p = s.analyse("main");
  const call_graph g = build_call_graph(p, {});
  EXPECT_EQ(callees_of(g, "by_one"), (names{"right", "old"}));
  EXPECT_TRUE(mentions(assumptions_of(g, "by_one"), "with all arguments"));
  build_options any;
  any.believe_signatures = false;
  const call_graph all = build_call_graph(p, any);
  EXPECT_EQ(callees_of(all, "by_one"), (names{"right", "old", "cast"}));
  EXPECT_FALSE(mentions(assumptions_of(all, "by_one"), "with all arguments"));
}

// The compiler knows what a function of the same file leaves as it was (-fipa-ra), and passes it on.
TEST(build_signatures, what_a_callee_of_the_module_leaves_may_be_passed) {
  subject s;
  s.write("main.c", "#define K __attribute__((noinline))\n"
                    "typedef long (*two)(long, long); volatile int n;\n"
                    "K long takes_two(long a, long b) { return a * b; }\n"
                    "K long takes_four(long a, long b, long c, long d) { return a * b + c * d; }\n"
                    "two volatile p = takes_two; long (*volatile q)(long, long, long, long) = takes_four;\n"
                    "K static void leaves_all(void) { __asm__(\"\"); n = 1; }\n"
                    "K long by_two(long a, long b) { leaves_all(); return p(a, b) + 1; }\n"
                    "int main(int n, char **v) { (void)v; return (int)(by_two(n, n) + q(1, 2, 3, 4)); }\n");
  s.run(std::string("gcc -g -O2 -fno-ipa-icf -fipa-ra") + options + "main.c start.c");
  const call_graph g = build_call_graph(s.analyse("main"), {});
  EXPECT_EQ(callees_of(g, "by_two"), (names{"leaves_all", "takes_two"}));
}

} // namespace
} // namespace nth::stack
