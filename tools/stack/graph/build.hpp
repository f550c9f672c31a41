// From a program to its call graph: calls resolved through the PLT, the GOT and other modules; indirect calls by the
// sets of functions whose address is taken.
//
// Every call gets an edge to each function that it may reach, or an open_call that says why these are not known.
// A program (not a library) whose libraries were all found is a closed world: a pointer of unknown origin leads to
// one of the functions whose address is taken somewhere. In a library that is looked at alone it leads out of it.
//
// A large set of callees is one node (call_node::is_set), shared by all calls that have it: each call has one edge
// to the set, the set a tail edge of depth 0 to each member. A set adds nothing to a need.
#pragma once

#include "graph/call_graph.hpp"
#include "graph/program.hpp"

namespace nth::stack {

struct build_options {
  // What may be believed beyond proof; each use is an assumption of the needs that rest on it.
  bool believe_tables = true;   // a pointer out of a table or of an object is one of those in such tables
  bool believe_survival = true; // no call is made with which the program dies: abort, a failed assertion, …
  bool count_death_in_program =
      false;                      // but the program itself, not its libraries, may die: these calls count
  bool believe_signatures = true; // functions are called through pointers with the arguments that they take
  bool believe_start = true;      // main and constructors are called by start-up code alone
  // A pointer of unknown origin in the program leads to a function whose address the program has itself.
  bool believe_own_pointers = false;
  // A lazily bound call runs the dynamic linker's resolver at first, which has no useful bound. Left false, it is
  // assumed that calls are bound when the program starts, as -z now and LD_BIND_NOW=1 make it; true: that call
  // counts.
  bool resolver_on_lazy_calls = false;
};

call_graph build_call_graph(const program &p, const build_options &options);

} // namespace nth::stack
