// Which nodes the names in annotations mean.
#pragma once

#include "graph/call_graph.hpp"
#include "notes/annotations.hpp"

#include <unordered_map>

namespace nth::stack {

class node_finder {
public:
  node_finder(const call_graph &g, const annotations &notes);

  // Whom the note is about; ascending.
  [[nodiscard]] std::vector<std::uint32_t> about(const annotation &note) const;
  // All of this linker name or demangled name, or one that stands for the same place, in any module; ascending.
  [[nodiscard]] std::vector<std::uint32_t> named(const std::string &name) const;
  // The same, and those that the name may stand for when it is written as in the source, without parameters and
  // enclosing scopes: more than are meant, never fewer.
  [[nodiscard]] std::vector<std::uint32_t> meant_by(const std::string &name) const;

private:
  void index_entries(const annotations &notes);
  void index_name(std::string_view name, std::uint32_t node); // nodes in ascending order
  [[nodiscard]] std::vector<std::uint32_t> around(const std::string &module, address within) const;

  const call_graph &graph_;
  std::unordered_map<std::string, std::vector<std::uint32_t>> exact_;
  std::unordered_map<std::string, std::vector<std::uint32_t>> prefix_;    // without the '*'
  std::unordered_map<std::string, std::vector<std::uint32_t>> last_part_; // by that of a demangled name
  std::unordered_map<std::string, std::vector<std::pair<address, std::uint32_t>>>
      by_entry_; // by module, sorted
};

} // namespace nth::stack
