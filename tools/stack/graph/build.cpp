#include "graph/build.hpp"
#include "graph/dying.hpp"
#include "graph/targets_pointers.hpp"
#include "image/function_names.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <unordered_map>

namespace nth::stack {

namespace {

// Calls with at most so many callees have an edge to each, others one to a set.
constexpr std::size_t most_single_callees = 3;

bool is_indirect(call_kind k) { return k == call_kind::indirect || k == call_kind::indirect_tail; }

edge_kind kind_of(call_kind k) {
  switch (k) {
  case call_kind::direct:
    return edge_kind::direct;
  case call_kind::tail:
    return edge_kind::tail;
  case call_kind::indirect:
    return edge_kind::indirect;
  case call_kind::indirect_tail:
    return edge_kind::indirect_tail;
  }
  return edge_kind::indirect;
}

std::vector<std::string> aliases_of(const function &f) {
  std::vector<std::string> names;
  const auto add = [&](const std::string &name) {
    if (name != f.name && name != f.symbol && std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(name);
  };
  for (const std::string &alias : f.aliases) {
    add(alias);
    add(demangle(alias));
  }
  return names;
}

class graph_builder {
public:
  graph_builder(const program &p, const build_options &o)
      : options(o), targets(p), pointers(targets, o), dying(targets) {}

  call_graph run() {
    // Calls of fragments add nodes while this goes on.
    for (std::uint32_t n = 0; n < targets.nodes.size(); ++n)
      add_calls(n);
    const auto functions = static_cast<std::uint32_t>(targets.nodes.size());
    graph.nodes.reserve(functions + sets.size());
    for (std::uint32_t n = 0; n < functions; ++n)
      graph.nodes.push_back(node_of(n));
    for (const std::uint32_t n : pointers.taken().all)
      graph.nodes[n].address_taken = true;
    add_sets(functions);
    graph.sort();
    return std::move(graph);
  }

private:
  [[nodiscard]] const analysed_module &module_of(std::uint32_t node) const {
    return targets.whole().modules[targets.nodes[node].module];
  }

  [[nodiscard]] call_node node_of(std::uint32_t n) const {
    const analysed_module &m = module_of(n);
    const function &f = m.table.functions[targets.nodes[n].function];
    const function_facts &facts = m.facts[targets.nodes[n].function];
    call_node node;
    node.name = f.name;
    node.symbol = f.symbol;
    node.aliases = aliases_of(f);
    node.module = m.image.name;
    node.entry = f.entry;
    node.frame = facts.frame;
    node.touched = facts.touched;
    node.bound = facts.bound;
    node.reason = facts.reason;
    node.reason_at = facts.reason_at;
    node.call_sites = static_cast<std::uint32_t>(facts.calls.size());
    node.indirect_sites = indirect_sites[n];
    return node;
  }

  void add_calls(std::uint32_t caller) {
    indirect_sites.resize(targets.nodes.size(), 0);
    const code_targets::function_place place = targets.nodes[caller];
    const bool binder = std::binary_search(binders().begin(), binders().end(), caller);
    for (const call_site &s : module_of(caller).facts[place.function].calls) {
      const bool survives =
          options.believe_survival && (place.module != 0 || !options.count_death_in_program);
      if (survives && dying.ends_at(place.module, s)) {
        add_end(caller, s);
      } else if (is_indirect(s.kind)) {
        const pointer_callees c = pointers.of(place.module, place.function, s);
        indirect_sites[caller] += c.fixed ? 0 : 1;
        // The resolver of lazy binding ends with a jump to the function that it found: its caller has that edge.
        if (!binder || s.kind != call_kind::indirect_tail)
          add_callees_of(caller, s, c);
      } else if (s.target != 0) {
        add_callees_of(caller, s, {targets.at(place.module, s.target), nullptr, 0, false});
      }
    }
  }

  void add_callees_of(std::uint32_t caller, const call_site &s, const pointer_callees &c) {
    std::uint32_t beliefs = c.beliefs;
    if (!c.to.open.empty())
      graph.open.push_back({caller, s.at, s.depth, is_indirect(s.kind) && !c.fixed, c.to.open});
    if (c.to.lazy && options.resolver_on_lazy_calls)
      add_binding(caller, s);
    else if (c.to.lazy)
      beliefs |= bound_at_start;
    const std::vector<std::uint32_t> &nodes = c.set != nullptr ? *c.set : c.to.nodes;
    if (nodes.empty())
      return;
    if (!targets.whole().missing.empty() && std::any_of(nodes.begin(), nodes.end(), [&](std::uint32_t n) {
          return targets.nodes[n].module != targets.nodes[caller].module;
        }))
      beliefs |= not_in_missing;
    call_edge e{caller, 0, s.depth, s.at, kind_of(s.kind), s.cold, assumption(beliefs)};
    if (nodes.size() <= most_single_callees) {
      for (const std::uint32_t n : nodes) {
        e.callee = n;
        graph.edges.push_back(e);
      }
      return;
    }
    // Sets come after all functions, whose number is not known yet: add_sets() puts their nodes in.
    to_sets.push_back(graph.edges.size());
    e.callee = c.set != nullptr ? set_of_shared(c.set) : set_of(nodes);
    graph.edges.push_back(e);
  }

  // To nobody, so that what is believed is seen.
  void add_end(std::uint32_t caller, const call_site &s) {
    to_sets.push_back(graph.edges.size());
    graph.edges.push_back(
        {caller, set_of({}), s.depth, s.at, kind_of(s.kind), s.cold, assumption(program_survives)});
  }

  // The first call runs _dl_runtime_resolve, entered with two words more on the stack.
  void add_binding(std::uint32_t caller, const call_site &s) {
    constexpr std::int64_t pushed_by_plt = 16;
    if (binders().empty())
      graph.open.push_back({caller, s.at, s.depth, false,
                            "bound lazily, and the dynamic linker's resolver was not found: "
                            "link with -z now"});
    for (const std::uint32_t n : binders())
      graph.edges.push_back({caller, n, s.depth + pushed_by_plt, s.at, edge_kind::lazy_binding, s.cold, 0});
  }

  [[nodiscard]] const std::vector<std::uint32_t> &binders() const { return pointers.taken().binders; }

  std::uint32_t assumption(std::uint32_t beliefs) {
    if (beliefs == 0)
      return 0;
    const auto next = static_cast<std::uint32_t>(graph.assumptions.size());
    const auto [at, added] = assumptions.emplace(beliefs, next);
    if (added)
      graph.assumptions.push_back(words_of(beliefs));
    return at->second;
  }

  std::uint32_t set_of(const std::vector<std::uint32_t> &members) {
    return sets.emplace(members, static_cast<std::uint32_t>(sets.size())).first->second;
  }

  std::uint32_t set_of_shared(const std::vector<std::uint32_t> *members) {
    const auto known = shared_sets.find(members);
    return known != shared_sets.end() ? known->second
                                      : shared_sets.emplace(members, set_of(*members)).first->second;
  }

  void add_sets(std::uint32_t first) {
    for (const std::size_t e : to_sets)
      graph.edges[e].callee += first;
    graph.nodes.resize(first + sets.size());
    for (const auto &set : sets) {
      const std::uint32_t n = first + set.second;
      call_node &node = graph.nodes[n];
      node.is_set = true;
      node.name =
          set.first.empty() ? "the program's end" : fmt::format("any of {} functions", set.first.size());
      node.frame = 0;
      node.touched = 0;
      for (const std::uint32_t member : set.first)
        graph.edges.push_back({n, member, 0, 0, edge_kind::tail, false, 0});
    }
  }

  const build_options &options;
  code_targets targets;
  pointer_targets pointers;
  dying_functions dying;
  call_graph graph;
  std::vector<std::uint32_t> indirect_sites;                // by node
  std::map<std::uint32_t, std::uint32_t> assumptions;       // by beliefs
  std::map<std::vector<std::uint32_t>, std::uint32_t> sets; // number of each set, by its members
  std::unordered_map<const std::vector<std::uint32_t> *, std::uint32_t> shared_sets;
  std::vector<std::size_t> to_sets; // edges whose callee is the number of a set
};

} // namespace

call_graph build_call_graph(const program &p, const build_options &options) {
  return graph_builder(p, options).run();
}

} // namespace nth::stack
