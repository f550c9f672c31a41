// The call graph as figure 1(c) of the paper draws it: frame and segment in each node, back edges dotted. Calls that
// are assumed are dashed, cold ones grey; a function whose need has no bound has a thick border.
#include "report/report.hpp"
#include "report/text.hpp"
#include "report/view.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <map>

namespace nth::stack {

namespace {

// For a json_string string of the dot language: no name ends it, nor stands for something else (\N is the node's name).
std::string escaped(std::string_view s) {
  std::string text;
  for (const char c : s) {
    if (c == '"' || c == '\\')
      text += '\\';
    text += c;
  }
  return text;
}

std::string size_or_mark(std::int64_t bytes) { return bytes == no_need ? "?" : fmt::format("{}", bytes); }

void write_node(std::ostream &out, const analysis &a, const report_options &options, std::uint32_t i) {
  const call_node &n = a.graph.nodes[i];
  const node_need &need = a.needs.needs[i];
  const std::int64_t frame = n.bound == frame_bound::unbounded ? no_need : n.frame;
  fmt::print(out, "    n{} [label=\"{}\\n{} / {}\", tooltip=\"{} {}\"{}{}];\n", i,
             escaped(shorten(n.name, 48)), size_or_mark(frame), size_or_mark(charged(need.segment, options)),
             escaped(printable(n.module)), hex(n.entry), need.need == no_need ? ", penwidth=2.5" : "",
             need.in_cycle ? ", style=filled, fillcolor=gray88" : "");
}

// All calls from one function to another are one arrow: dotted if one closes a cycle, dashed or grey if all are
// assumed or cold.
struct arrow {
  bool back = false;
  bool assumed = true;
  bool cold = true;
  bool indirect = true;
};

void write_arrows(std::ostream &out, const analysis &a, const std::vector<bool> &drawn) {
  for (std::uint32_t caller = 0; caller < a.graph.nodes.size(); ++caller) {
    if (!drawn[caller])
      continue;
    std::map<std::uint32_t, arrow> arrows;
    for (std::uint32_t i = a.graph.first_edge[caller]; i < a.graph.first_edge[caller + 1]; ++i) {
      const call_edge &e = a.graph.edges[i];
      if (!drawn[e.callee])
        continue;
      arrow &to = arrows[e.callee];
      to.back = to.back || a.needs.back[i];
      to.assumed = to.assumed && e.assumption != 0;
      to.cold = to.cold && e.cold;
      to.indirect = to.indirect && (e.kind == edge_kind::indirect || e.kind == edge_kind::indirect_tail);
    }
    for (const auto &entry : arrows) {
      const arrow &to = entry.second;
      fmt::print(out, "  n{} -> n{} [style={}{}{}{}];\n", caller, entry.first,
                 to.back      ? "dotted"
                 : to.assumed ? "dashed"
                              : "solid",
                 to.cold ? ", color=gray65" : "", to.indirect ? ", arrowhead=empty" : "",
                 to.back ? ", constraint=false" : "");
    }
  }
}

} // namespace

void write_graphviz(std::ostream &out, const analysis &a, const report_options &options) {
  std::vector<bool> drawn(a.graph.nodes.size(), false);
  std::map<std::string_view, std::vector<std::uint32_t>> of_module;
  const std::vector<std::uint32_t> shown = shown_functions(a, options);
  for (const std::uint32_t i : shown) {
    drawn[i] = true;
    of_module[a.graph.nodes[i].module].push_back(i);
  }
  std::vector<std::uint32_t> sets; // of callees that these functions have
  for (const std::uint32_t i : shown)
    for (const call_edge &e : a.graph.calls_of(i))
      if (a.graph.nodes[e.callee].is_set && !drawn[e.callee]) {
        drawn[e.callee] = true;
        sets.push_back(e.callee);
      }
  fmt::print(
      out,
      "// Each node: frame / segment, in bytes; \"?\" has no bound. Dotted: back edges; dashed: assumed; "
      "grey: cold.\n"
      "digraph \"{}\" {{\n  node [shape=box, fontname=\"sans-serif\", fontsize=10];\n"
      "  edge [arrowsize=0.7];\n",
      escaped(printable(a.program)));
  std::size_t number = 0;
  for (const auto &entry : of_module) {
    fmt::print(out, "  subgraph cluster_{} {{\n    label=\"{}\";\n    color=gray75;\n", number++,
               escaped(printable(entry.first)));
    for (const std::uint32_t i : entry.second)
      write_node(out, a, options, i);
    out << "  }\n";
  }
  for (const std::uint32_t i : sets)
    fmt::print(out, "  n{} [label=\"{}\", shape=ellipse];\n", i, escaped(printable(a.graph.nodes[i].name)));
  write_arrows(out, a, drawn);
  out << "}\n";
}

} // namespace nth::stack
