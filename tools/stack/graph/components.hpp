// Strongly connected components of any directed graph (Tarjan 1972), without recursion: call chains may be as long
// as the program has functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace nth::stack {

// The edges of node n lead to to[first[n]] … to[first[n + 1] - 1].
struct digraph {
  std::vector<std::uint32_t> first = {0}; // one more than nodes
  std::vector<std::uint32_t> to;

  [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(first.size() - 1); }
  [[nodiscard]] std::span<const std::uint32_t> from(std::uint32_t node) const noexcept {
    return {to.data() + first[node], first[node + 1] - first[node]};
  }
  void end_node() { first.push_back(static_cast<std::uint32_t>(to.size())); }
};

struct component_list {
  std::vector<std::uint32_t> of;      // of each node: its component; an edge leads to the same or a lower one
  std::vector<std::uint32_t> first;   // one more than components
  std::vector<std::uint32_t> members; // those of component c: first[c] to first[c + 1], ascending

  [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(first.size() - 1); }
  [[nodiscard]] std::span<const std::uint32_t> in(std::uint32_t component) const noexcept {
    return {members.data() + first[component], first[component + 1] - first[component]};
  }
};

component_list strong_components(const digraph &g);

} // namespace nth::stack
