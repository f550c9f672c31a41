// The functions whose address is known to more than the calls that name them: a call through a pointer of unknown
// origin may reach each of these, and in a closed world no other.
#pragma once

#include "graph/targets_code.hpp"

namespace nth::stack {

struct taken_functions {
  std::vector<std::uint32_t> all;       // nodes, sorted, each once; without binders
  std::vector<std::uint32_t> but_start; // without those that only the start of the program calls
  // Without the entry of the program, which nobody but the kernel and ld.so jumps to; and without main, too.
  std::vector<std::uint32_t> but_entry;
  std::vector<std::uint32_t> but_entry_and_main;
  // Without main, where nothing but the entry has its address, and hands it to __libc_start_main, which is defined to
  // call it and to do nothing else with it (LSB 5.0, Core, 12.1.2): a call by other than start-up code does not reach it.
  std::vector<std::uint32_t> but_main;
  // Those whose address the program itself takes, without what is nth's own in a program that it is linked into.
  std::vector<std::uint32_t> by_program;
  // _dl_runtime_resolve and the like, which the PLT enters with two words more than a call leaves on the stack: no
  // pointer to a function leads there. Sorted.
  std::vector<std::uint32_t> binders;
};

// In a program that nth's static library (src/CMakeLists.txt) is linked into: nth's own code, or its stubs.
bool is_code_of_nth(const module &m, address a);

// Index of the module that is the dynamic linker; no_node: none.
std::uint32_t interpreter_of(const program &p);

// Start-up code: the entry of the program and main, which only the entry takes the address of; constructors
// (.init, .init_array, .preinit_array); resolvers of ifuncs. Destructors are not: exit() calls them.
taken_functions find_taken(code_targets &targets);

// Code that the linker put into words at [place, place + 8), as relocations or, in a program with fixed addresses,
// the words themselves tell; empty: none.
callees code_in_word(code_targets &targets, std::uint32_t module, address place);

} // namespace nth::stack
