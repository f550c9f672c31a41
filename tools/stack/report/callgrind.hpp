// What callgrind (valgrind --tool=callgrind, best with --dump-instr=yes) counted: who called whom how often.
#pragma once

#include "image/module.hpp"

#include <iosfwd>

namespace nth::stack {

struct executed_function {
  std::string name;   // without the mark of a recursion level ('2) and of a version (@GLIBC_2.34)
  std::string object; // path
  address entry = 0;  // in the object; 0: the file has no addresses
};

struct executed_call {
  std::uint32_t caller = 0; // index in executed_calls::functions
  std::uint32_t callee = 0;
  address at = 0; // of the call, in the caller's object; 0: the file has no addresses
  std::uint64_t count = 0;
};

struct executed_calls {
  std::string command;
  std::vector<executed_function> functions;
  std::vector<executed_call> calls; // each caller, place and callee once
};

// Throws bad_input for what is no such file; names file and line.
executed_calls read_callgrind(const std::string &file);
executed_calls parse_callgrind(std::istream &in, const std::string &file_name);

} // namespace nth::stack
