#include "graph/solve.hpp"

#include "graph/blocking.hpp"
#include "graph/reach.hpp"
#include "graph/solve_assumptions.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace nth::stack {

namespace {

constexpr std::size_t longest_name = 80; // in a reason; names of templates fill pages
constexpr std::size_t most_names = 12;   // of a cycle

std::string short_name(const std::string &name) {
  if (name.size() <= longest_name)
    return name;
  std::size_t cut = longest_name - 3; // not inside of a character of several bytes
  while (cut > 0 && (static_cast<unsigned char>(name[cut]) & 0xc0U) == 0x80)
    --cut;
  return name.substr(0, cut) + "...";
}

std::string_view in_words(no_bound reason) noexcept {
  switch (reason) {
  case no_bound::none:
    return "not known";
  case no_bound::dynamic_allocation:
    return "alloca or an array of variable length";
  case no_bound::grows_in_loop:
    return "each turn of a loop takes more";
  case no_bound::stack_switch:
    return "it goes to another stack";
  case no_bound::undecodable:
    return "bytes that are no instruction";
  case no_bound::unknown_jump:
    return "a jump whose targets are not known";
  case no_bound::disagrees:
    return "the code and its unwind table differ";
  case no_bound::too_large:
    return "the function is too large to analyse";
  case no_bound::pops_arguments:
    return "it takes arguments off the stack of callers that are not known";
  }
  return "not known";
}

// Text for each of the nodes that are themselves the cause.
class reason_texts {
public:
  reason_texts(const solver_view &v, const longest_paths &paths)
      : v_(v), paths_(paths), cycle_of_(v.size(), no_call) {
    for (std::uint32_t c = 0; c < paths.cycles.size(); ++c)
      for (const std::uint32_t call : paths.cycles[c])
        cycle_of_[v.calls[call].callee] = c;
  }

  [[nodiscard]] std::string of(std::uint32_t node) const {
    const call_node &n = v_.graph.nodes[node];
    switch (paths_.why[node]) {
    case cause::none:
      return {};
    case cause::frame:
      return fmt::format("frame of {}: {} at {:#x}{}", short_name(n.name), in_words(n.reason), n.reason_at,
                         v_.notes.frame.contains(node) ? "; what it calls is not known either" : "");
    case cause::open: {
      const open_call &o = v_.graph.open[v_.open[node]];
      return fmt::format("call at {:#x} of {}: {}", o.at, short_name(n.name), o.why);
    }
    case cause::recursion:
      return recursion(paths_.cycles[cycle_of_[node]]);
    case cause::too_deep:
      return fmt::format("{} needs more than {} bytes", short_name(n.name), largest_need);
    }
    return {};
  }

private:
  [[nodiscard]] std::string recursion(const std::vector<std::uint32_t> &cycle) const {
    std::string text = "recursion: " + short_name(v_.graph.nodes[v_.calls[cycle.back()].callee].name);
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      if (i == most_names && cycle.size() > most_names + 1) {
        text += fmt::format(" -> ({} more)", cycle.size() - i - 1);
        i = cycle.size() - 1;
      }
      text += " -> " + short_name(v_.graph.nodes[v_.calls[cycle[i]].callee].name);
    }
    return text;
  }

  const solver_view &v_;
  const longest_paths &paths_;
  std::vector<std::uint32_t> cycle_of_;
};

// Each unbounded function has the nearest cause, and the way there.
void find_reasons(const solver_view &v, const longest_paths &paths, const callers &c, need_table &t) {
  std::vector<bool> causes(v.size());
  for (std::uint32_t n = 0; n < v.size(); ++n)
    causes[n] = paths.why[n] != cause::none && paths.need[n] == no_need;
  for (const std::vector<std::uint32_t> &cycle : paths.cycles)
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      const std::uint32_t caller = v.calls[cycle[i == 0 ? cycle.size() - 1 : i - 1]].callee;
      t.to_cause[caller] = v.calls[cycle[i]].call;
    }
  std::vector<bool> reached;
  find_ways(v, c, causes, false, t.to_cause, reached);

  const reason_texts texts(v, paths);
  std::vector<std::uint32_t> way;
  for (std::uint32_t n = 0; n < v.size(); ++n) {
    if (paths.need[n] != no_need || !t.needs[n].reason.empty())
      continue;
    std::uint32_t at = n;
    way.clear();
    while (!causes[at] && t.needs[at].reason.empty()) {
      way.push_back(at);
      at = call_at(v.graph, t, t.to_cause[at]).callee;
    }
    if (t.needs[at].reason.empty())
      t.needs[at].reason = texts.of(at);
    for (const std::uint32_t w : way)
      t.needs[w].reason = t.needs[at].reason;
  }
}

// Through stubs too: what blocks behind one blocks all the same.
void find_blocking(const call_graph &g, const annotations &notes, need_table &t) {
  const solver_view v(g, notes, nullptr);
  std::vector<bool> reached;
  find_ways(v, callers(v), blocking_nodes(v), true, t.to_block, reached);
  for (std::uint32_t n = 0; n < v.size(); ++n)
    t.needs[n].may_block = reached[n];
}

void find_certainty(const solver_view &v, const longest_paths &paths, need_table &t) {
  const resting_assumptions found = find_assumptions(v, paths.components);
  for (std::uint32_t n = 0; n < v.size(); ++n) {
    node_need &need = t.needs[n];
    const assumption_set &set = found.sets[found.component[paths.components.of[n]]];
    need.sure = need.need == no_need ? certainty::unbounded
                : set.first.empty()  ? certainty::proved
                                     : certainty::assumed;
    if (need.sure == certainty::assumed) {
      need.assumptions = set.first;
      need.more_assumptions = set.more;
    }
  }
}

// A recursion that notes bound leaves functions that are called only once round: a note for one that is not in any.
void find_unused_depths(const solver_view &v, const longest_paths &paths, need_table &t) {
  std::vector<std::string> idle;
  for (const auto &[node, note] : v.notes.depth_notes)
    if (!paths.in_cycle[node])
      idle.push_back(fmt::format("{}: {} is not recursive", note, v.graph.nodes[node].name));
  std::sort(idle.begin(), idle.end());
  t.unused_notes.insert(t.unused_notes.end(), idle.begin(), idle.end());
}

void take_back_edges(const solver_view &v, const longest_paths &paths, need_table &t) {
  const std::size_t edges = v.graph.edges.size();
  t.back.assign(edges, false);
  t.added_back.assign(t.added.size(), false);
  for (std::size_t i = 0; i < v.calls.size(); ++i)
    if (paths.back[i]) {
      const std::uint32_t call = v.calls[i].call;
      (call < edges ? t.back[call] : t.added_back[call - edges]) = true;
    }
}

} // namespace

need_table solve(const call_graph &g, const annotations &notes, const stub_places *stubs) {
  solver_view v(g, notes, stubs);
  longest_paths paths = find_longest_paths(v);

  need_table t;
  t.needs.resize(v.size());
  for (std::uint32_t n = 0; n < v.size(); ++n) {
    t.needs[n].need = paths.need[n];
    t.needs[n].segment = paths.segment[n];
    t.needs[n].in_cycle = paths.in_cycle[n];
  }
  t.unused_notes = std::move(v.notes.unused);
  t.added = std::move(v.notes.added);
  t.dropped = std::move(v.notes.dropped);
  t.to_cause.assign(v.size(), no_call);
  t.to_block.assign(v.size(), no_call);
  take_back_edges(v, paths, t);

  const callers c(v);
  find_reasons(v, paths, c, t);
  find_blocking(g, notes, t);
  find_certainty(v, paths, t);
  find_unused_depths(v, paths, t);
  t.assumptions = std::move(v.notes.assumptions);
  t.touched = std::move(v.touched);
  t.closed = std::move(v.closed);
  t.component = std::move(paths.components.of);
  return t;
}

} // namespace nth::stack
