#include "graph/solve_notes.hpp"

#include "graph/find_nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_set>

namespace nth::stack {

namespace {

// Notes for very many functions, each with very many callees, would need a graph of their own.
constexpr std::size_t most_added = 4'000'000;

bool is_jump(edge_kind k) noexcept { return k == edge_kind::tail || k == edge_kind::indirect_tail; }
bool is_indirect(edge_kind k) noexcept { return k == edge_kind::indirect || k == edge_kind::indirect_tail; }

std::string in_words(const annotation &note) {
  const std::string names = note.names.empty() ? "nothing" : fmt::format("{}", fmt::join(note.names, ", "));
  switch (note.kind) {
  case annotation::what::need:
    return fmt::format("{} needs at most {} bytes", note.function, note.bytes);
  case annotation::what::frame:
    return fmt::format("the frame of {} takes at most {} bytes", note.function, note.bytes);
  case annotation::what::depth:
    return fmt::format("{} is entered at most {} times on one stack", note.function, note.bytes);
  case annotation::what::targets:
    return note.site == 0
               ? fmt::format("{} calls only {} through pointers", note.function, names)
               : fmt::format("the call at {:#x} of {} calls only {}", note.site, note.function, names);
  case annotation::what::no_call:
    return fmt::format("{} never calls {}", note.function, names);
  case annotation::what::blocks:
    return fmt::format("{} may block", note.function);
  }
  return {};
}

class application {
public:
  application(const call_graph &g, const annotations &notes) : graph_(g), notes_(notes), finder_(g, notes) {
    result_.assumptions = g.assumptions;
    result_.unused = notes.misplaced;
    result_.dropped.assign(g.edges.size(), false);
    result_.dropped_open.assign(g.open.size(), false);
  }

  noted_graph run() {
    // What is never called comes last: it also takes from what the other notes add.
    for (const annotation &note : notes_.list)
      if (note.kind != annotation::what::no_call)
        take(note);
    for (const annotation &note : notes_.list)
      if (note.kind == annotation::what::no_call)
        take(note);
    limit_depths();
    std::stable_sort(result_.added.begin(), result_.added.end(), [](const call_edge &a, const call_edge &b) {
      return std::tie(a.caller, a.at, a.callee) < std::tie(b.caller, b.at, b.callee);
    });
    std::sort(result_.resting.begin(), result_.resting.end());
    return std::move(result_);
  }

private:
  void unused(const annotation &note, std::string_view why) {
    if (note.built_in)
      return;
    result_.unused.push_back(fmt::format("{}: {}: {}", note.where, in_words(note), why));
  }

  void rest_on(std::uint32_t node, const annotation &note) {
    if (note.checked)
      return;
    const auto [at, is_new] =
        assumption_of_.try_emplace(&note, static_cast<std::uint32_t>(result_.assumptions.size()));
    if (is_new)
      result_.assumptions.push_back(fmt::format("{}: {} ({})", in_words(note), note.because, note.where));
    result_.resting.emplace_back(node, at->second);
  }

  static void keep_larger(std::unordered_map<std::uint32_t, std::int64_t> &of, std::uint32_t node,
                          std::int64_t value) {
    const auto [at, is_new] = of.try_emplace(node, value);
    if (!is_new)
      at->second = std::max(at->second, value);
  }

  void take(const annotation &note) {
    const std::vector<std::uint32_t> nodes = finder_.about(note);
    if (nodes.empty())
      return unused(note, note.module.empty() ? "there is no such function"
                                              : fmt::format("there is no such function in {}", note.module));
    switch (note.kind) {
    case annotation::what::need:
      for (const std::uint32_t node : nodes) {
        keep_larger(result_.need, node, note.bytes);
        rest_on(node, note);
      }
      return;
    case annotation::what::frame:
      return take_frame(note, nodes);
    case annotation::what::depth:
      for (const std::uint32_t node : nodes) {
        keep_larger(result_.entered, node, note.bytes);
        rest_on(node, note);
        if (!note.built_in)
          result_.depth_notes[node] = fmt::format("{}: {}", note.where, in_words(note));
      }
      return;
    case annotation::what::targets:
      return take_targets(note, nodes);
    case annotation::what::no_call:
      return take_no_call(note, nodes);
    case annotation::what::blocks:
      result_.blocking.insert(result_.blocking.end(), nodes.begin(), nodes.end());
      return;
    }
  }

  // Where the analysis has found as little already, its proof is better than the note.
  void take_frame(const annotation &note, const std::vector<std::uint32_t> &nodes) {
    bool used = false;
    for (const std::uint32_t n : nodes) {
      const call_node &node = graph_.nodes[n];
      if (node.bound != frame_bound::unbounded && note.bytes >= std::max(node.frame, node.touched))
        continue;
      keep_larger(result_.frame, n, note.bytes);
      rest_on(n, note);
      used = true;
    }
    if (!used)
      unused(note, "the analysis proves as much");
  }

  struct site {
    std::int64_t depth = 0;
    edge_kind kind = edge_kind::indirect;
    bool cold = true;
  };

  // The indirect calls of `node` that the note means, which it drops.
  std::map<address, site> drop_indirect(const annotation &note, std::uint32_t node) {
    std::map<address, site> sites;
    for (std::uint32_t e = graph_.first_edge[node]; e < graph_.first_edge[node + 1]; ++e) {
      const call_edge &edge = graph_.edges[e];
      if (!is_indirect(edge.kind) || (note.site != 0 && edge.at != note.site))
        continue;
      site &s = sites[edge.at];
      s = {std::max(s.depth, edge.depth), edge.kind, s.cold && edge.cold};
      result_.dropped[e] = true;
    }
    const auto begin = std::lower_bound(graph_.open.begin(), graph_.open.end(), node,
                                        [](const open_call &o, std::uint32_t n) { return o.caller < n; });
    for (auto o = begin; o != graph_.open.end() && o->caller == node; ++o) {
      if (note.site == 0 ? !o->indirect : o->at != note.site)
        continue;
      site &s = sites[o->at];
      s = {std::max(s.depth, o->depth), s.kind, false};
      result_.dropped_open[static_cast<std::size_t>(o - graph_.open.begin())] = true;
    }
    return sites;
  }

  void add(const call_edge &e) {
    if (result_.added.size() == most_added)
      throw bad_input(fmt::format(
          "annotations name more than {} calls in place of others; say it of fewer functions", most_added));
    result_.added.push_back(e);
  }

  void take_targets(const annotation &note, const std::vector<std::uint32_t> &nodes) {
    std::vector<std::uint32_t> targets;
    for (const std::string &name : note.names) {
      const std::vector<std::uint32_t> meant = finder_.meant_by(name);
      if (meant.empty()) // it may be there by another name: without it the rest would promise too much
        return unused(note, fmt::format("there is no function {}, so none of it is believed", name));
      targets.insert(targets.end(), meant.begin(), meant.end());
    }
    bool used = false;
    for (const std::uint32_t node : nodes) {
      const std::map<address, site> sites = drop_indirect(note, node);
      for (const auto &[at, s] : sites)
        for (const std::uint32_t target : targets)
          add({.caller = node, .callee = target, .depth = s.depth, .at = at, .kind = s.kind, .cold = s.cold});
      if (!sites.empty())
        rest_on(node, note);
      used = used || !sites.empty();
    }
    if (!used)
      unused(note, note.site == 0 ? "it makes no indirect calls" : "there is no indirect call");
  }

  // The call reaches any of a set: those of it that stay are called one by one.
  bool leave_out_of_set(const call_edge &edge, const std::vector<std::uint32_t> &never) {
    const std::span<const call_edge> members = graph_.calls_of(edge.callee);
    const auto is_never = [&](const call_edge &m) {
      return std::binary_search(never.begin(), never.end(), m.callee);
    };
    if (std::none_of(members.begin(), members.end(), is_never))
      return false;
    for (const call_edge &m : members) {
      if (is_never(m))
        continue;
      call_edge single = edge;
      single.callee = m.callee;
      single.depth += m.depth;
      if (single.assumption == 0)
        single.assumption = m.assumption;
      else if (m.assumption != 0)
        result_.resting.emplace_back(edge.caller, m.assumption);
      add(single);
    }
    return true;
  }

  void take_no_call(const annotation &note, const std::vector<std::uint32_t> &nodes) {
    std::vector<std::uint32_t> never;
    for (const std::string &name : note.names) {
      const std::vector<std::uint32_t> meant = finder_.named(name);
      if (meant.empty())
        unused(note, fmt::format("there is no function {}", name));
      never.insert(never.end(), meant.begin(), meant.end());
    }
    if (never.empty())
      return;
    std::sort(never.begin(), never.end());
    std::unordered_set<std::uint32_t> fewer; // functions that lose what another note gave them
    std::erase_if(result_.added, [&](const call_edge &e) {
      const bool gone = std::binary_search(nodes.begin(), nodes.end(), e.caller) &&
                        std::binary_search(never.begin(), never.end(), e.callee);
      if (gone)
        fewer.insert(e.caller);
      return gone;
    });
    bool used = false;
    for (const std::uint32_t node : nodes) {
      bool here = fewer.contains(node);
      for (std::uint32_t e = graph_.first_edge[node]; e < graph_.first_edge[node + 1]; ++e) {
        const call_edge &edge = graph_.edges[e];
        if (result_.dropped[e])
          continue;
        result_.dropped[e] = std::binary_search(never.begin(), never.end(), edge.callee) ||
                             (graph_.nodes[edge.callee].is_set && leave_out_of_set(edge, never));
        here = here || result_.dropped[e];
      }
      if (here)
        rest_on(node, note);
      used = used || here;
    }
    if (!used)
      unused(note, "it does not call them");
  }

  // A frame that a note bounds: where the flow lost rsp, a call may be as deep as the frame. Where it did not, no call
  // is deeper than that. A jump stands where the frame is given back.
  void limit_depths() {
    const auto limited = [this](call_edge e) {
      const std::int64_t frame = result_.frame.at(e.caller);
      if (!is_jump(e.kind))
        e.depth = graph_.nodes[e.caller].bound == frame_bound::unbounded ? frame : std::min(e.depth, frame);
      return e;
    };
    for (call_edge &e : result_.added)
      if (result_.frame.contains(e.caller))
        e = limited(e);
    for (const auto &[node, bytes] : result_.frame)
      for (std::uint32_t e = graph_.first_edge[node]; e < graph_.first_edge[node + 1]; ++e)
        if (!result_.dropped[e] && !is_jump(graph_.edges[e].kind)) {
          result_.dropped[e] = true;
          add(limited(graph_.edges[e]));
        }
  }

  const call_graph &graph_;
  const annotations &notes_;
  node_finder finder_;
  noted_graph result_;
  std::unordered_map<const annotation *, std::uint32_t> assumption_of_;
};

} // namespace

noted_graph apply(const call_graph &g, const annotations &notes) { return application(g, notes).run(); }

} // namespace nth::stack
