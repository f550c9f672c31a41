// All functions of a module: facts, with a fixpoint over who returns and over functions found by calls.
#pragma once

#include "code/facts.hpp"

#include <functional>

namespace nth::stack {

struct scan_options {
  // Is told how many of how many functions are done; may be empty.
  std::function<void(std::size_t, std::size_t)> progress;
  // Whether a call of a symbol, which this module may define too, reaches a function of another module that never
  // returns; nullopt: it reaches this module's, or none that is known, and the name decides. May be empty.
  std::function<std::optional<bool>(const symbol &wanted)> import_never_returns;
};

// Of another module: whether the imported function never returns (abort, exit, __cxa_throw, …).
bool never_returns(std::string_view symbol) noexcept;

// One entry for each of f.functions, which may grow.
std::vector<function_facts> scan_module(const module &m, const unwind_table &u, function_table &f,
                                        const scan_options &options);

} // namespace nth::stack
