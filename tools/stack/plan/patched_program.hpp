// The part of a program that is patched, its executable, as the call graph sees it: which node is which function,
// which edge which instruction.
#pragma once

#include "graph/call_graph.hpp"
#include "graph/program.hpp"

#include <unordered_map>

namespace nth::stack {

class patched_program {
public:
  patched_program(const program &p, const call_graph &g);

  [[nodiscard]] const analysed_module &executable() const noexcept { return program_.modules.front(); }
  [[nodiscard]] const module &image() const noexcept { return executable().image; }

  // Index in the executable's table of functions; no_function: in a library, a set, or nth's own code.
  [[nodiscard]] std::uint32_t function_of(std::uint32_t node) const noexcept { return function_of_[node]; }
  [[nodiscard]] bool is_patched(std::uint32_t node) const noexcept {
    return function_of_[node] != no_function;
  }
  // Of any module; null: of a set.
  [[nodiscard]] const function_facts *facts_of(std::uint32_t node) const noexcept { return facts_of_[node]; }
  // The call of an edge whose caller is patched; null: there is none.
  [[nodiscard]] const call_site *call_of(const call_edge &e) const noexcept;
  // The address of a symbol of the program; 0: it has none of that name.
  [[nodiscard]] address symbol(std::string_view name) const noexcept;
  // Of nth's own code, which the static library brings along.
  [[nodiscard]] bool in_library_of_nth(address a) const noexcept;

private:
  const program &program_;
  std::vector<std::uint32_t> function_of_;
  std::vector<const function_facts *> facts_of_;
  std::unordered_map<address, const call_site *> calls_;
};

} // namespace nth::stack
