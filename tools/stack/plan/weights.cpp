#include "plan/weights.hpp"

#include <algorithm>
#include <map>

namespace nth::stack {

namespace {

constexpr int rounds = 6;
constexpr double most = 1e12;
constexpr double comes_back = 0.5; // of calls in a cycle: a recursion ends

} // namespace

std::vector<double> weights_of_run(const call_graph &g, const executed_calls &run, std::uint64_t &found) {
  using place = std::pair<std::string_view, address>; // function, bytes from its entry
  std::map<place, double> counts;
  for (const executed_call &c : run.calls) {
    const executed_function &f = run.functions[c.caller];
    counts[{f.name, f.entry == 0 || c.at == 0 ? 0 : c.at - f.entry}] += static_cast<double>(c.count);
  }
  std::vector<double> weights(g.edges.size(), 0);
  std::map<place, bool> met;
  for (std::size_t e = 0; e < g.edges.size(); ++e) {
    const call_node &caller = g.nodes[g.edges[e].caller];
    const address offset = g.edges[e].at - caller.entry;
    std::vector<std::string_view> names = {caller.symbol, caller.name};
    names.insert(names.end(), caller.aliases.begin(), caller.aliases.end());
    for (const std::string_view name : names)
      if (const auto c = counts.find({name, offset}); c != counts.end()) {
        weights[e] = c->second;
        met[c->first] = true;
        break;
      }
  }
  found = met.size();
  return weights;
}

std::vector<double> estimated_weights(const patched_program &program, const call_graph &g,
                                      const need_table &t) {
  // Whom a pointer leads to is not estimated: what has its address taken counts as called once by it. Nor is what
  // libraries do.
  const auto share = [&](std::size_t e) -> double {
    const call_edge &c = g.edges[e];
    const bool direct = c.kind == edge_kind::direct || c.kind == edge_kind::tail;
    const call_site *s = direct ? program.call_of(c) : nullptr;
    return s != nullptr ? s->frequency : 0;
  };
  // Callers before callees; what comes round in a cycle counts in the next round.
  std::vector<std::uint32_t> order(g.nodes.size());
  for (std::uint32_t n = 0; n < order.size(); ++n)
    order[n] = n;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return t.component[a] > t.component[b]; });
  std::vector<std::uint32_t> place(g.nodes.size());
  for (std::uint32_t i = 0; i < order.size(); ++i)
    place[order[i]] = i;
  std::vector<bool> called(g.nodes.size());
  for (std::size_t e = 0; e < g.edges.size(); ++e)
    called[g.edges[e].callee] = called[g.edges[e].callee] || share(e) > 0;
  std::vector<double> often(g.nodes.size(), 0);
  for (int round = 0; round < rounds; ++round) {
    std::vector<double> next(g.nodes.size(), 0);
    for (std::size_t e = 0; e < g.edges.size(); ++e)
      if (const call_edge &c = g.edges[e]; place[c.callee] <= place[c.caller])
        next[c.callee] += comes_back * share(e) * often[c.caller];
    for (const std::uint32_t n : order) {
      next[n] = std::min(next[n] + (called[n] && !g.nodes[n].address_taken ? 0 : 1), most);
      for (std::uint32_t e = g.first_edge[n]; e < g.first_edge[n + 1]; ++e)
        if (const std::uint32_t callee = g.edges[e].callee; place[callee] > place[n])
          next[callee] += next[n] * share(e);
    }
    often = std::move(next);
  }
  std::vector<double> weights(g.edges.size());
  for (std::size_t e = 0; e < g.edges.size(); ++e) {
    const call_site *s = program.call_of(g.edges[e]);
    weights[e] = s == nullptr ? 0 : std::min(often[g.edges[e].caller] * s->frequency, most);
  }
  return weights;
}

} // namespace nth::stack
