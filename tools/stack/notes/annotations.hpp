// What analysis cannot know, said by the user: in files (doc/stack-notes.md has the grammar) and by attributes in the source
// (nth/stack.h), which lie in the section .nth_stack of the program.
#pragma once

#include "image/module.hpp"

namespace nth::stack {

struct annotation {
  enum class what : std::uint8_t {
    need,    // the function needs at most `bytes`, callees included; its calls are not looked at
    frame,   // its own frame is at most `bytes`
    depth,   // it is entered at most `bytes` times on one stack (recursion)
    targets, // its indirect calls (at `site`, if not 0) reach the functions `names` alone
    no_call, // it never calls `names` (an error path that ends the program, say)
    blocks   // it may block (nth's own calls are known)
  };
  what kind = what::need;
  std::string function; // linker name or demangled name; may end in '*'
  std::string module;   // "" any
  address within = 0;   // not 0: only the function of `module` in whose code this address lies
  std::int64_t bytes = 0;
  address site = 0;
  std::vector<std::string> names;
  bool checked = false;  // proved by something else than a measurement: "proved" in the file
  bool built_in = false; // of nth itself: not reported where it has no effect
  std::string because;   // argument or measurement, shown where the assumption is
  std::string where;     // file and line, or the section
};

struct annotations {
  std::vector<annotation> list;
  std::vector<std::string> misplaced; // of a program's section: what belongs to no function, and why
};

// Throws bad_input with file, line, what is wrong and what may stand there.
annotations read_annotations(const std::filesystem::path &file);
annotations parse_annotations(std::string_view text, std::string_view file_name);
// What nth/stack.h left in the program.
annotations annotations_of(const module &m);
// An entry that is not built in takes the place of those that are and say something of the same kind of its function.
void append(annotations &to, annotations from);

} // namespace nth::stack
