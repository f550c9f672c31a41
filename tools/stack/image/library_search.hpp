// Finds the shared libraries that are loaded with a program, as ld.so(8) would, without running it.
#pragma once

#include "image/module.hpp"

namespace nth::stack {

struct search_options {
  std::vector<std::filesystem::path> first; // looked at before all others
  std::filesystem::path root = "/";         // of the system that the program is for
};

// The program, then all that it needs, breadth first, the interpreter too. A library that is not found is named
// in `missing`, and calls of it count as unknown.
struct loaded_program {
  std::vector<module> modules;
  std::vector<std::string> missing;
};

loaded_program load_program(const std::filesystem::path &path, const search_options &options);

} // namespace nth::stack
