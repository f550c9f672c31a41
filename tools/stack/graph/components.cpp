#include "graph/components.hpp"

#include <algorithm>

namespace nth::stack {

namespace {

constexpr std::uint32_t unseen = ~std::uint32_t{0};

struct search {
  const digraph &g;
  component_list found;
  std::vector<std::uint32_t> low;  // number in the order of discovery, lowered to the lowest that is reached
  std::vector<std::uint32_t> next; // the edge to look at when the node is on top again
  std::vector<std::uint32_t> open; // visited, component not known yet
  std::vector<std::uint32_t> path; // from the root of the search to the node at hand
  std::uint32_t visited = 0;
  std::uint32_t components = 0;

  explicit search(const digraph &graph) : g(graph), low(graph.size(), unseen), next(graph.first) {
    found.of.assign(graph.size(), unseen);
  }

  void enter(std::uint32_t node) {
    low[node] = visited++;
    open.push_back(node);
    path.push_back(node);
  }

  // All nodes above the first of a component on `open` belong to it: the first is the one whose number nothing lowered.
  void leave(std::uint32_t node, std::uint32_t number) {
    path.pop_back();
    if (low[node] == number) {
      for (std::uint32_t member = unseen; member != node;) {
        member = open.back();
        open.pop_back();
        found.of[member] = components;
      }
      ++components;
    }
    if (!path.empty())
      low[path.back()] = std::min(low[path.back()], low[node]);
  }

  void run_from(std::uint32_t root, std::vector<std::uint32_t> &number) {
    enter(root);
    number[root] = low[root];
    while (!path.empty()) {
      const std::uint32_t node = path.back();
      if (next[node] == g.first[node + 1]) {
        leave(node, number[node]);
        continue;
      }
      const std::uint32_t callee = g.to[next[node]++];
      if (low[callee] == unseen) {
        enter(callee);
        number[callee] = low[callee];
      } else if (found.of[callee] == unseen) {
        low[node] = std::min(low[node], number[callee]);
      }
    }
  }
};

} // namespace

component_list strong_components(const digraph &g) {
  search s(g);
  std::vector<std::uint32_t> number(g.size());
  for (std::uint32_t node = 0; node < g.size(); ++node)
    if (s.low[node] == unseen)
      s.run_from(node, number);

  component_list found = std::move(s.found);
  found.first.assign(s.components + 1, 0);
  for (const std::uint32_t c : found.of)
    ++found.first[c + 1];
  for (std::uint32_t c = 0; c < s.components; ++c)
    found.first[c + 1] += found.first[c];
  found.members.resize(g.size());
  std::vector<std::uint32_t> fill(found.first.begin(), found.first.end() - 1);
  for (std::uint32_t node = 0; node < g.size(); ++node)
    found.members[fill[found.of[node]]++] = node;
  return found;
}

} // namespace nth::stack
