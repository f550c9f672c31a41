// A program with all modules that are loaded with it, and what is known of each function.
#pragma once

#include "code/facts.hpp"

namespace nth::stack {

struct analysed_module {
  module image;
  unwind_table unwind;
  function_table table;
  std::vector<function_facts> facts; // one for each of table.functions
};

struct program {
  std::vector<analysed_module> modules; // in the order in which the loader looks symbols up
  std::vector<std::string> missing;     // libraries that were not found
  std::filesystem::path debug_directory = "/usr/lib/debug"; // of debug information split from modules
};

} // namespace nth::stack
