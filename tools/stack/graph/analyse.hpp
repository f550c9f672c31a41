// From the path of a program to all that is known of its functions.
#pragma once

#include "graph/program.hpp"
#include "image/library_search.hpp"

#include <functional>

namespace nth::stack {

struct analyse_options {
  search_options search;
  // Is told the module, and how many of how many of its functions are done; may be empty.
  std::function<void(const module &, std::size_t, std::size_t)> progress;
};

// The program, the libraries it is loaded with, and the facts of all their functions. Throws bad_input.
program analyse_program(const std::filesystem::path &path, const analyse_options &options);

// The same for modules that are there already, in load order.
program analyse_modules(loaded_program loaded, const analyse_options &options);

} // namespace nth::stack
