// Call graphs from a line of text, and the solver's answers by name.
//
//   start 32 -> B@32; B 16 -> C@16 D@16 cold; C alloca; S set -> B@0 if:1
//
// A function: its name, the bytes it takes itself (or "alloca", or "set"), words ("open", "open:16" for a call of
// unknown callees, "open:indirect"), and its calls: name@depth and words (cold, tail, indirect, if:<assumption>).
// Functions that are only called take 8.
#pragma once

#include "graph/solve.hpp"

#include <fmt/format.h>

#include <map>
#include <sstream>

namespace nth::stack::test {

class graph_reader {
public:
  call_graph read(const std::string &text) {
    std::istringstream functions(text);
    for (std::string one; std::getline(functions, one, ';');)
      if (one.find_first_not_of(" \n") != std::string::npos)
        read_function(one);
    g_.sort();
    return std::move(g_);
  }

private:
  std::uint32_t node(const std::string &name) {
    const auto [at, is_new] = index_.try_emplace(name, static_cast<std::uint32_t>(g_.nodes.size()));
    if (is_new) {
      call_node n;
      n.name = n.symbol = name;
      n.module = "a.out";
      n.entry = 0x1000 * (at->second + 1);
      g_.nodes.push_back(n);
    }
    return at->second;
  }

  void read_function(const std::string &text) {
    std::istringstream words(text);
    std::string word;
    words >> word;
    const std::uint32_t n = node(word);
    while (words >> word && word != "->") {
      if (word == "alloca") {
        g_.nodes[n].bound = frame_bound::unbounded;
        g_.nodes[n].reason = no_bound::dynamic_allocation;
      } else if (word == "jumps") {
        g_.nodes[n].bound = frame_bound::unbounded;
        g_.nodes[n].reason = no_bound::unknown_jump;
      } else if (word == "set") {
        g_.nodes[n].is_set = true;
      } else if (word.starts_with("open")) {
        g_.open.push_back({.caller = n,
                           .at = g_.nodes[n].entry + 0x500,
                           .depth = 16,
                           .indirect = word == "open:indirect",
                           .why = "who knows"});
        count_site(n, word == "open:indirect");
      } else {
        g_.nodes[n].frame = g_.nodes[n].touched = std::stol(word);
      }
    }
    std::uint32_t place = 0;
    while (words >> word) {
      if (const std::size_t at = word.find('@'); at != std::string::npos) {
        const std::uint32_t callee = node(word.substr(0, at));
        g_.edges.push_back({.caller = n,
                            .callee = callee,
                            .depth = std::stol(word.substr(at + 1)),
                            .at = g_.nodes[n].entry + 8 * ++place});
        count_site(n, false);
      } else {
        modify(g_.edges.back(), word);
      }
    }
  }

  void modify(call_edge &e, const std::string &word) {
    if (word == "cold") {
      e.cold = true;
    } else if (word == "tail") {
      e.kind = edge_kind::tail;
    } else if (word == "indirect") {
      e.kind = edge_kind::indirect;
      ++g_.nodes[e.caller].indirect_sites;
    } else if (word.starts_with("if:")) {
      e.assumption = static_cast<std::uint32_t>(std::stoul(word.substr(3)));
      while (g_.assumptions.size() <= e.assumption)
        g_.assumptions.push_back(fmt::format("assumption {}", g_.assumptions.size()));
    } else {
      throw std::invalid_argument(word);
    }
  }

  void count_site(std::uint32_t n, bool indirect) {
    ++g_.nodes[n].call_sites;
    g_.nodes[n].indirect_sites += indirect ? 1 : 0;
  }

  call_graph g_;
  std::map<std::string, std::uint32_t> index_;
};

inline call_graph graph_of(const std::string &text) { return graph_reader().read(text); }

inline std::uint32_t node_of(const call_graph &g, const std::string &name) {
  for (std::uint32_t n = 0; n < g.nodes.size(); ++n)
    if (g.nodes[n].name == name)
      return n;
  throw std::invalid_argument(name);
}

struct solved {
  call_graph g;
  need_table t;

  explicit solved(const std::string &text, const annotations &notes = {})
      : g(graph_of(text)), t(solve(g, notes)) {}

  [[nodiscard]] const node_need &of(const std::string &name) const { return t.needs[node_of(g, name)]; }
  // "start@32 B@16 C@8"
  [[nodiscard]] std::string in_words(const std::vector<chain_link> &chain) const {
    std::string text;
    for (const chain_link &l : chain)
      text += fmt::format("{}{}@{}", text.empty() ? "" : " ", g.nodes[l.node].name, l.depth);
    return text;
  }
  [[nodiscard]] std::string chain(const std::string &name) const {
    return in_words(worst_chain(g, t, node_of(g, name)));
  }
  [[nodiscard]] std::string blocking(const std::string &name) const {
    return in_words(blocking_chain(g, t, node_of(g, name)));
  }
  // "D->B E->E", in the order of the edges
  [[nodiscard]] std::string back() const {
    std::string text;
    for (std::uint32_t e = 0; e < g.edges.size() + t.added.size(); ++e)
      if (is_back(g, t, e)) {
        const call_edge &edge = call_at(g, t, e);
        text += fmt::format("{}{}->{}", text.empty() ? "" : " ", g.nodes[edge.caller].name,
                            g.nodes[edge.callee].name);
      }
    return text;
  }
};

inline annotation note(annotation::what kind, const std::string &function, std::int64_t bytes = 0,
                       std::vector<std::string> names = {}) {
  annotation a;
  a.kind = kind;
  a.function = function;
  a.bytes = bytes;
  a.names = std::move(names);
  a.because = "said so";
  a.where = "test:1";
  return a;
}

} // namespace nth::stack::test
