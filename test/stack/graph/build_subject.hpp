// Small programs that a test compiles and has analysed.
#pragma once

#include "graph/analyse.hpp"
#include "graph/build.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <unistd.h>

namespace nth::stack {

// A folder of files that goes with its end.
class subject {
public:
  subject() {
    static int number = 0;
    folder = std::filesystem::temp_directory_path() /
             ("nth_stack_build_" + std::to_string(getpid()) + "_" + std::to_string(++number));
    std::filesystem::create_directories(folder);
    // In place of the C library, so that no other code has to be analysed.
    write("start.c", "int main(int, char **);\n"
                     "__attribute__((noipa)) void call_main(int (*m)(int, char **)) { m(1, 0); for (;;) "
                     "__asm__(\"hlt\"); }\n"
                     "__asm__(\".globl _start\\n.type _start,@function\\n\"\n"
                     "        \"_start: lea main(%rip),%rdi\\n call call_main\\n.size _start,.-_start\");\n");
  }
  ~subject() { std::filesystem::remove_all(folder); }
  subject(const subject &) = delete;
  subject &operator=(const subject &) = delete;

  void write(const std::string &file, const std::string &text) const { std::ofstream(folder / file) << text; }

  // What begins a command that compiles C or C++; `start.c` is given where a program is linked.
  static constexpr const char *c = "gcc -nostdlib -fno-stack-protector -O1 -fno-inline -fno-ipa-icf ";
  static constexpr const char *cpp =
      "g++ -nostdlib -fno-stack-protector -O1 -fno-ipa-icf -fno-exceptions -fno-threadsafe-statics ";

  // In the folder; the tool's tests are built with sanitizers at times, their subjects never.
  void run(const std::string &command) const {
    const std::string all = "cd '" + folder.string() + "' && " + command;
    ASSERT_EQ(std::system(all.c_str()), 0) << all;
  }

  [[nodiscard]] program analyse(const std::string &file) const {
    analyse_options o;
    o.search.first = {folder};
    return analyse_program(folder / file, o);
  }

  std::filesystem::path folder;
};

using names = std::set<std::string>;

inline std::uint32_t node_named(const call_graph &g, const std::string &name,
                                const std::string &module = "") {
  for (std::uint32_t n = 0; n < g.nodes.size(); ++n)
    if (g.nodes[n].name == name && (module.empty() || g.nodes[n].module == module))
      return n;
  ADD_FAILURE() << name << " is not in the graph";
  return 0;
}

// Names of all that it calls, sets replaced by their members.
inline names callees_of(const call_graph &g, const std::string &caller) {
  names found;
  for (const call_edge &e : g.calls_of(node_named(g, caller)))
    if (!g.nodes[e.callee].is_set)
      found.insert(g.nodes[e.callee].name);
    else
      for (const call_edge &member : g.calls_of(e.callee))
        found.insert(g.nodes[member.callee].name);
  return found;
}

inline names assumptions_of(const call_graph &g, const std::string &caller) {
  names texts;
  for (const call_edge &e : g.calls_of(node_named(g, caller)))
    texts.insert(g.assumptions[e.assumption]);
  return texts;
}

inline names open_of(const call_graph &g, const std::string &caller) {
  names why;
  const std::uint32_t n = node_named(g, caller);
  for (const open_call &o : g.open)
    if (o.caller == n)
      why.insert(o.why);
  return why;
}

inline bool mentions(const names &texts, const std::string &words) {
  return std::any_of(texts.begin(), texts.end(),
                     [&](const std::string &t) { return t.find(words) != std::string::npos; });
}

} // namespace nth::stack
