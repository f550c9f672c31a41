// Calls with which the program dies are believed not to be made; others that never return are calls like any other.
#include "build_subject.hpp"

namespace nth::stack {
namespace {

constexpr const char *dying_text =
    "#define K __attribute__((noipa))\n"
    "volatile int flag;\n"
    "K void large(void) { volatile char room[5000]; room[flag] = 1; }\n"
    "K __attribute__((noreturn)) void abort(void) { for (;;) flag = 1; }\n"
    "K __attribute__((noreturn)) void _Exit(int n) { for (;;) flag = n; }\n"
    "K __attribute__((noreturn)) void exit(int n) { large(); _Exit(n); }\n"
    "K __attribute__((noreturn)) void serve(void) { for (;;) { large(); if (flag) abort(); } }\n"
    "K void checks(void) { if (flag) abort(); }\n"
    "K void serves(void) { if (flag) serve(); }\n"
    "K void leaves(void) { if (flag) exit(1); }\n"
    "void (*on_error)(void) = abort;\n"
    "K void handles(void) { on_error(); large(); __asm__(\"\"); }\n"
    "int main(void) { checks(); serves(); leaves(); handles(); on_error = large; return 0; }\n";

TEST(dying, abort_alone_is_not_counted) {
  subject s;
  s.write("main.c", dying_text);
  for (const char *how : {"-pie -fpie -Wl,-z,now", "-no-pie -fno-pic", "-static"}) {
    s.run(std::string(subject::c) + "-fno-builtin -o main main.c start.c " + how);
    const program p = s.analyse("main");
    const call_graph g = build_call_graph(p, {});
    EXPECT_EQ(callees_of(g, "checks"), names{}) << how;
    EXPECT_TRUE(mentions(assumptions_of(g, "checks"), "does not die")) << how;
    // Its loop runs before the program dies, if it ever does.
    EXPECT_EQ(callees_of(g, "serves"), names{"serve"}) << how;
    EXPECT_EQ(callees_of(g, "serve"), names{"large"}) << how;
    // What exit runs needs room.
    EXPECT_EQ(callees_of(g, "leaves"), names{"exit"}) << how;
    EXPECT_EQ(callees_of(g, "exit"), (names{"large", "_Exit"})) << how;
    // A variable that begins as abort may become something else.
    EXPECT_EQ(callees_of(g, "handles").count("large"), 1U) << how;
    EXPECT_EQ(callees_of(g, "handles").count("abort"), 1U) << how;

    build_options strict;
    strict.believe_survival = false;
    EXPECT_EQ(callees_of(build_call_graph(p, strict), "checks"), names{"abort"}) << how;
  }
}

} // namespace
} // namespace nth::stack
