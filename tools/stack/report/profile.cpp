#include "report/profile.hpp"

#include "report/report.hpp"
#include "report/text.hpp"
#include "report/view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <unordered_map>

namespace nth::stack {

namespace {

constexpr std::int64_t return_address = 8;

bool is_indirect(const call_edge &e) noexcept {
  return e.kind == edge_kind::indirect || e.kind == edge_kind::indirect_tail;
}

// Functions of the run as nodes: by the address where there is one, else by name.
std::vector<std::uint32_t> nodes_of(const analysis &a, const executed_calls &run) {
  std::unordered_map<std::string, std::string> module_of; // by file name
  for (std::size_t i = 0; i < a.modules.size() && i < a.module_names.size(); ++i) {
    module_of.emplace(std::filesystem::path(a.modules[i]).filename(), a.module_names[i]);
    module_of.emplace(a.module_names[i], a.module_names[i]);
  }
  std::unordered_map<std::string, std::uint32_t> by_place;
  std::unordered_map<std::string, std::uint32_t> by_symbol;
  std::unordered_map<std::string, std::uint32_t> by_name;
  std::unordered_map<std::string, std::uint32_t> by_alias;
  for (std::uint32_t i = 0; i < a.graph.nodes.size(); ++i) {
    const call_node &n = a.graph.nodes[i];
    by_place.emplace(fmt::format("{}\1{}", n.module, n.entry), i);
    by_symbol.emplace(fmt::format("{}\1{}", n.module, n.symbol), i);
    by_name.emplace(fmt::format("{}\1{}", n.module, n.name), i);
    for (const std::string &alias : n.aliases)
      by_alias.emplace(fmt::format("{}\1{}", n.module, alias), i);
  }
  std::vector<std::uint32_t> nodes;
  for (const executed_function &f : run.functions) {
    nodes.push_back(no_step);
    const auto module = module_of.find(std::filesystem::path(f.object).filename());
    if (module == module_of.end())
      continue;
    const auto look = [&](const auto &table, const auto &key) {
      const auto found = table.find(fmt::format("{}\1{}", module->second, key));
      if (nodes.back() == no_step && found != table.end())
        nodes.back() = found->second;
    };
    if (f.entry != 0)
      look(by_place, f.entry);
    look(by_symbol, f.name);
    look(by_name, f.name);
    look(by_alias, f.name);
  }
  return nodes;
}

// Who makes the call at a place. callgrind lays calls to the function that was entered last, also after a jump into another
// one, and takes functions of one name in an object for one.
class call_places {
public:
  explicit call_places(const call_graph &g) : graph_(g) {
    for (const call_edge &e : g.edges)
      if (e.at != 0)
        note(e.caller, e.at);
    for (const open_call &o : g.open)
      if (o.at != 0)
        note(o.caller, o.at);
    std::sort(callers_.begin(), callers_.end());
    callers_.erase(std::unique(callers_.begin(), callers_.end()), callers_.end());
  }

  // `laid_to`, if a call of its own is there.
  [[nodiscard]] std::uint32_t caller(std::uint32_t laid_to, address at) const {
    if (laid_to == no_step || at == 0)
      return laid_to;
    const auto [first, last] = std::equal_range(callers_.begin(), callers_.end(), place{at, 0},
                                                [](const place &x, const place &y) { return x.at < y.at; });
    std::uint32_t found = laid_to;
    for (auto p = first; p != last; ++p) {
      if (p->node == laid_to)
        return laid_to;
      if (graph_.nodes[p->node].module == graph_.nodes[laid_to].module)
        found = p->node;
    }
    return found;
  }

  // The function of the same name as `laid_to` that the call at this place leads to; `laid_to`, if there is none.
  [[nodiscard]] std::uint32_t callee(std::uint32_t caller, std::uint32_t laid_to, address at) const {
    if (laid_to == no_step || at == 0)
      return laid_to;
    const call_node &n = graph_.nodes[laid_to];
    std::uint32_t found = laid_to;
    for (const call_edge &e : graph_.calls_of(caller)) {
      const call_node &to = graph_.nodes[e.callee];
      if (e.at != at || to.is_set)
        continue;
      if (e.callee == laid_to)
        return laid_to;
      if (to.module == n.module && to.symbol == n.symbol)
        found = e.callee;
    }
    return found;
  }

private:
  struct place {
    address at = 0;
    std::uint32_t node = 0;
    bool operator==(const place &) const = default;
    bool operator<(const place &o) const { return at != o.at ? at < o.at : node < o.node; }
  };
  void note(std::uint32_t node, address at) { callers_.push_back({at, node}); }

  const call_graph &graph_;
  std::vector<place> callers_;
};

// A run of another program says nothing of this one.
void expect_run_of(const analysis &a, const executed_calls &run) {
  const std::filesystem::path program = a.modules.empty() ? "" : a.modules.front();
  std::error_code none;
  const std::filesystem::path real =
      std::filesystem::weakly_canonical(program, none); // behind symbolic links
  for (const executed_function &f : run.functions) {
    const std::filesystem::path object = std::filesystem::path(f.object).filename();
    if (object == program.filename() || object == real.filename())
      return;
  }
  throw bad_input(fmt::format("the run is of `{}`: nothing of {} ran in it; give a run of this program",
                              run.command, program.string()));
}

enum class call_class : std::uint8_t { forward, backward, indirect };

// An executed call as the graph has it.
struct laid_call {
  std::uint32_t caller = 0;
  std::uint32_t callee = 0;
  std::int64_t depth = 0;
  call_class how = call_class::forward;
  bool closes = false; // on a back edge, or of a target that is not in the graph: may lead back
};

// The call leads to `callee`, or to a set of callees with it.
bool leads_to(const analysis &a, const call_edge &e, std::uint32_t callee) {
  if (e.callee == callee || !a.graph.nodes[e.callee].is_set)
    return e.callee == callee;
  const std::span<const call_edge> members = a.graph.calls_of(e.callee); // all at 0, so sorted by callee
  return std::binary_search(members.begin(), members.end(), call_edge{e.callee, callee},
                            [](const call_edge &x, const call_edge &y) { return x.callee < y.callee; });
}

// The call closes a cycle: its own edge does, or that from its set of callees to this one.
bool closes(const analysis &a, std::uint32_t edge, std::uint32_t callee) {
  const std::uint32_t to = a.graph.edges[edge].callee;
  if (a.needs.back[edge] || !a.graph.nodes[to].is_set)
    return a.needs.back[edge];
  for (std::uint32_t i = a.graph.first_edge[to]; i < a.graph.first_edge[to + 1]; ++i)
    if (a.graph.edges[i].callee == callee)
      return a.needs.back[i];
  return false;
}

// The edge that this call took: at its place, if that is known. Of several that fit the first of a back edge, an
// indirect call, another. no_step: none.
std::uint32_t edge_of(const analysis &a, std::uint32_t caller, std::uint32_t callee, address at) {
  std::uint32_t best = no_step;
  int best_rank = 0;
  for (std::uint32_t i = a.graph.first_edge[caller]; i < a.graph.first_edge[caller + 1]; ++i) {
    const call_edge &e = a.graph.edges[i];
    // A callee that is no node, at a known place, is the stub of a procedure linkage table on the way.
    if (callee == no_step ? at == 0 || e.at != at : !leads_to(a, e, callee))
      continue;
    const int rank = (at != 0 && e.at == at ? 4 : 0) + (is_indirect(e) ? 2 : a.needs.back[i] ? 3 : 1);
    if (rank > best_rank) {
      best = i;
      best_rank = rank;
    }
  }
  return best;
}

const open_call *open_call_of(const analysis &a, std::uint32_t caller, address at) {
  const auto first = std::lower_bound(a.graph.open.begin(), a.graph.open.end(), caller,
                                      [](const open_call &o, std::uint32_t node) { return o.caller < node; });
  for (auto o = first; o != a.graph.open.end() && o->caller == caller; ++o)
    if (at == 0 || o->at == at)
      return &*o;
  return nullptr;
}

// Functions, callees before callers, back edges left out.
std::vector<std::uint32_t> callees_first(const analysis &a) {
  std::vector<std::uint32_t> order;
  std::vector<std::uint32_t> next(a.graph.first_edge.begin(), a.graph.first_edge.end());
  std::vector<bool> seen(a.graph.nodes.size(), false);
  std::vector<std::uint32_t> stack;
  for (std::uint32_t start = 0; start < a.graph.nodes.size(); ++start) {
    if (!seen[start])
      stack.push_back(start);
    seen[start] = true;
    while (!stack.empty()) {
      const std::uint32_t node = stack.back();
      if (next[node] == a.graph.first_edge[node + 1]) {
        order.push_back(node);
        stack.pop_back();
        continue;
      }
      const std::uint32_t edge = next[node]++;
      const std::uint32_t callee = a.graph.edges[edge].callee;
      if (!a.needs.back[edge] && !seen[callee]) {
        seen[callee] = true;
        stack.push_back(callee);
      }
    }
  }
  return order;
}

struct segment_size {
  std::int64_t bytes = 0;
  bool at_least = false;

  bool operator==(const segment_size &) const = default;
};

// Jumps alone may lead round without a back edge, where the stack does not grow: then one pass is not enough.
constexpr int passes_most = 8;

// Of each function: what it needs up to the next stub.
std::vector<segment_size> segments_of(const analysis &a, const std::vector<std::uint32_t> &order) {
  std::vector<segment_size> segments;
  for (const call_node &n : a.graph.nodes)
    segments.push_back({std::max(n.frame, n.touched), n.bound == frame_bound::unbounded});
  bool changed = true;
  for (int pass = 0; changed && pass < passes_most; ++pass) {
    changed = false;
    for (const std::uint32_t node : order) {
      segment_size s = segments[node];
      for (std::uint32_t i = a.graph.first_edge[node]; i < a.graph.first_edge[node + 1]; ++i) {
        const call_edge &e = a.graph.edges[i];
        if (a.needs.back[i] || is_indirect(e))
          continue;
        s.bytes = std::max(s.bytes, e.depth + segments[e.callee].bytes);
        s.at_least = s.at_least || segments[e.callee].at_least;
      }
      changed = changed || s != segments[node];
      segments[node] = s;
    }
  }
  return segments;
}

struct path_space {
  std::int64_t allocated = 0; // by stubs below this function
  std::int64_t needed = 0;
  bool at_least = false;

  bool operator==(const path_space &) const = default;
};

// One turn: a call that may lead back goes on as `below` says.
std::vector<path_space> walk(const analysis &a, const std::vector<std::uint32_t> &order,
                             const std::vector<std::vector<laid_call>> &calls,
                             const std::vector<segment_size> &segments,
                             const std::vector<path_space> *below) {
  std::vector<path_space> paths;
  for (const call_node &n : a.graph.nodes)
    paths.push_back({0, std::max(n.frame, n.touched), n.bound == frame_bound::unbounded});
  bool changed = true;
  for (int pass = 0; changed && pass < passes_most; ++pass) {
    changed = false;
    for (const std::uint32_t node : order) {
      path_space p = paths[node];
      for (const laid_call &c : calls[node]) {
        if (c.closes && below == nullptr)
          continue;
        const path_space &on = c.closes ? (*below)[c.callee] : paths[c.callee];
        const segment_size &s = segments[c.callee];
        const bool stub = c.how != call_class::forward;
        p.needed = std::max(p.needed, c.depth + on.needed);
        p.allocated = std::max(p.allocated, (stub ? s.bytes : 0) + on.allocated);
        p.at_least = p.at_least || on.at_least || (stub && s.at_least);
      }
      changed = changed || p != paths[node];
      paths[node] = p;
    }
  }
  return paths;
}

std::vector<std::uint32_t> roots_of(const analysis &a, const std::vector<std::string> &names,
                                    const std::vector<std::vector<laid_call>> &calls) {
  std::vector<std::uint32_t> roots;
  for (const std::string &name : names)
    for (const std::uint32_t node : functions_known(a, name))
      roots.push_back(node);
  if (!names.empty())
    return roots;
  for (const std::uint32_t node : functions_named(a, "main"))
    if (!calls[node].empty())
      return {node};
  std::vector<bool> entered(a.graph.nodes.size(), false);
  for (const auto &list : calls)
    for (const laid_call &c : list)
      entered[c.callee] = true;
  for (std::uint32_t node = 0; node < calls.size(); ++node)
    if (!calls[node].empty() && !entered[node])
      roots.push_back(node);
  return roots;
}

} // namespace

profile_result lay_over(const analysis &a, const executed_calls &run, const std::vector<std::string> &roots) {
  profile_result result;
  result.command = run.command;
  expect_run_of(a, run);
  const std::vector<std::uint32_t> nodes = nodes_of(a, run);
  const call_places places(a.graph);
  const std::vector<std::uint32_t> order = callees_first(a);
  const std::vector<segment_size> segments = segments_of(a, order);
  std::vector<std::vector<laid_call>> calls(a.graph.nodes.size());
  profile_counts &counts = result.counts;

  for (const executed_call &c : run.calls) {
    const std::uint32_t caller = places.caller(nodes[c.caller], c.at);
    if (caller == no_step) {
      counts.outside += c.count;
      continue;
    }
    const std::uint32_t callee = places.callee(caller, nodes[c.callee], c.at);
    laid_call laid{caller, callee, 0, call_class::indirect, true};
    const std::uint32_t edge = edge_of(a, caller, callee, c.at);
    if (edge != no_step) {
      const call_edge &e = a.graph.edges[edge];
      laid = {caller, callee == no_step ? e.callee : callee, e.depth,
              is_indirect(e)       ? call_class::indirect
              : a.needs.back[edge] ? call_class::backward
                                   : call_class::forward,
              closes(a, edge, callee)};
    } else if (callee == no_step) {
      counts.outside += c.count;
      continue;
    } else if (const open_call *open = open_call_of(a, caller, c.at)) {
      laid.depth = open->depth;
    } else {
      counts.missing += c.count;
      result.missing.push_back({caller, callee, c.at, c.count});
      continue;
    }
    calls[caller].push_back(laid);
    (laid.how == call_class::forward    ? counts.forward
     : laid.how == call_class::backward ? counts.backward
                                        : counts.indirect) += c.count;
    if (laid.how != call_class::forward)
      (segments[laid.callee].bytes <= return_address && !segments[laid.callee].at_least ? counts.zero
                                                                                        : counts.non_zero) +=
          c.count;
  }
  std::sort(result.missing.begin(), result.missing.end(),
            [](const missing_call &x, const missing_call &y) { return x.count > y.count; });

  const std::vector<path_space> straight = walk(a, order, calls, segments, nullptr);
  const std::vector<path_space> one_turn = walk(a, order, calls, segments, &straight);
  for (const std::uint32_t root : roots_of(a, roots, calls))
    result.space.push_back({root, segments[root].bytes + one_turn[root].allocated, one_turn[root].needed,
                            segments[root].at_least || one_turn[root].at_least});
  return result;
}

} // namespace nth::stack
