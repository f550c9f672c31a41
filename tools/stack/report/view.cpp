#include "report/view.hpp"

#include "report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace nth::stack {

std::vector<chain_step> chain_steps(const analysis &a) {
  const std::size_t count = a.graph.nodes.size();
  std::vector<chain_step> steps(count);
  std::vector<bool> known(count, false);
  for (std::uint32_t node = 0; node < count; ++node) {
    if (known[node])
      continue;
    const std::vector<chain_link> chain = worst_chain(a.graph, a.needs, node);
    // Stops at what is known: its step, and all that follow, are those of a chain already written, so that no
    // circle comes about that is none in the program. A cycle's second visit is known by then, too.
    for (std::size_t i = 0; i < chain.size() && !known[chain[i].node]; ++i) {
      known[chain[i].node] = true;
      const std::uint32_t next = i + 1 < chain.size() ? chain[i + 1].node : no_step;
      steps[chain[i].node] = {next, chain[i].at, chain[i].depth};
    }
    known[node] = true;
  }
  return steps;
}

std::vector<call_edge> back_calls(const analysis &a) {
  std::vector<call_edge> calls;
  for (std::uint32_t i = 0; i < a.graph.edges.size() + a.needs.added.size(); ++i)
    if (is_back(a.graph, a.needs, i))
      calls.push_back(call_at(a.graph, a.needs, i));
  std::stable_sort(calls.begin(), calls.end(),
                   [](const call_edge &x, const call_edge &y) { return x.caller < y.caller; });
  return calls;
}

std::vector<std::uint32_t> culprits(const analysis &a, const std::vector<chain_step> &steps) {
  std::vector<std::uint32_t> ends(steps.size(), no_step);
  std::vector<std::uint32_t> on_way(steps.size(), no_step); // from which start this was last walked
  std::vector<std::uint32_t> way;
  for (std::uint32_t start = 0; start < steps.size(); ++start) {
    if (a.needs.needs[start].sure != certainty::unbounded)
      continue;
    way.clear();
    std::uint32_t node = start;
    while (ends[node] == no_step && on_way[node] != start && steps[node].next != no_step) {
      on_way[node] = start;
      way.push_back(node);
      node = steps[node].next;
    }
    const std::uint32_t end = ends[node] != no_step ? ends[node] : node;
    ends[node] = end;
    for (const std::uint32_t passed : way)
      ends[passed] = end;
  }
  for (std::uint32_t node = 0; node < ends.size(); ++node)
    if (a.needs.needs[node].sure != certainty::unbounded)
      ends[node] = no_step;
  return ends;
}

std::string cause_of(const analysis &a, std::uint32_t culprit) {
  const call_node &n = a.graph.nodes[culprit];
  if (n.bound == frame_bound::unbounded)
    return fmt::format("{}, at {}", words_for(n.reason), hex(n.reason_at));
  const auto open = std::lower_bound(a.graph.open.begin(), a.graph.open.end(), culprit,
                                     [](const open_call &o, std::uint32_t node) { return o.caller < node; });
  if (open != a.graph.open.end() && open->caller == culprit)
    return fmt::format("{}, at {}", open->why, hex(open->at));
  if (a.needs.needs[culprit].in_cycle)
    return "recursion: how often it is entered again is not known";
  return a.needs.needs[culprit].reason;
}

namespace {

// "f" of "f(int) const", "operator()" of "operator()(int)": what a user writes for a C++ function.
std::string_view without_parameters(std::string_view name) noexcept {
  if (name.empty())
    return name;
  std::size_t from = name.rfind("operator()");
  from = from == std::string_view::npos ? 0 : from + 10;
  while (name.substr(from).starts_with("(anonymous namespace)"))
    from += 21;
  int angles = 0;
  for (std::size_t i = from; i < name.size(); ++i) {
    angles += name[i] == '<' ? 1 : name[i] == '>' ? -1 : 0;
    if (name[i] != '(' || angles > 0)
      continue;
    if (!name.substr(i).starts_with("(anonymous namespace)"))
      return name.substr(0, i);
    i += 20;
  }
  return name;
}

std::optional<address> address_in(std::string_view text) noexcept {
  if (!text.starts_with("0x"))
    return std::nullopt;
  address value = 0;
  const auto read = std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size())
    return std::nullopt;
  return value;
}

} // namespace

std::vector<std::uint32_t> functions_named(const analysis &a, std::string_view name) {
  const std::string_view own = a.module_names.empty() ? std::string_view() : a.module_names.front();
  const std::optional<address> at = address_in(name);
  const auto is_named = [&](std::string_view full) { return without_parameters(full) == name; };
  // The first kind of match that there is counts: a symbol says more than a name that overloads share.
  std::vector<std::uint32_t> found[6];
  for (std::uint32_t i = 0; i < a.graph.nodes.size(); ++i) {
    const call_node &n = a.graph.nodes[i];
    int rank = -1;
    if (n.symbol == name || (at && n.entry == *at && n.module == own))
      rank = 0;
    else if (n.name == name || std::find(n.aliases.begin(), n.aliases.end(), name) != n.aliases.end())
      rank = 1;
    else if (!name.empty() && (is_named(n.name) || std::any_of(n.aliases.begin(), n.aliases.end(), is_named)))
      rank = 2;
    if (rank >= 0)
      found[rank + (n.module == own ? 0 : 3)].push_back(i);
  }
  for (std::vector<std::uint32_t> &list : found)
    if (!list.empty())
      return std::move(list);
  return {};
}

std::vector<std::uint32_t> functions_known(const analysis &a, std::string_view name) {
  std::vector<std::uint32_t> found = functions_named(a, name);
  if (!found.empty())
    return found;
  std::vector<std::string_view> names;
  names.reserve(2 * a.graph.nodes.size());
  for (const call_node &n : a.graph.nodes) {
    if (!n.symbol.empty())
      names.push_back(n.symbol);
    names.push_back(without_parameters(n.name));
    for (const std::string &alias : n.aliases)
      names.push_back(without_parameters(alias));
  }
  std::string message = fmt::format("{}: has no function {}", a.program, printable(name));
  const std::vector<std::string> near = near_names(name, names, 5);
  if (!near.empty())
    message += fmt::format("; is one of these meant: {}?", fmt::join(near, ", "));
  throw bad_input(message);
}

std::vector<bool> reached(const analysis &a, const std::vector<std::string> &roots) {
  std::vector<bool> seen(a.graph.nodes.size(), roots.empty());
  std::vector<std::uint32_t> todo;
  for (const std::string &root : roots)
    for (const std::uint32_t node : functions_known(a, root)) {
      if (!seen[node])
        todo.push_back(node);
      seen[node] = true;
    }
  while (!todo.empty()) {
    const std::uint32_t node = todo.back();
    todo.pop_back();
    for (const call_edge &e : a.graph.calls_of(node)) {
      if (!seen[e.callee])
        todo.push_back(e.callee);
      seen[e.callee] = true;
    }
  }
  return seen;
}

std::vector<std::uint32_t> shown_functions(const analysis &a, const report_options &options) {
  const std::vector<bool> in_reach = reached(a, options.roots);
  std::vector<std::uint32_t> shown;
  for (std::uint32_t i = 0; i < a.graph.nodes.size(); ++i)
    if (in_reach[i] && !a.graph.nodes[i].is_set &&
        (options.all_modules || a.module_names.empty() || a.graph.nodes[i].module == a.module_names.front()))
      shown.push_back(i);

  const auto need_of = [&](std::uint32_t i) {
    const node_need &n = a.needs.needs[i];
    return n.need == no_need ? std::numeric_limits<std::int64_t>::max() : n.need;
  };
  std::stable_sort(shown.begin(), shown.end(), [&](std::uint32_t x, std::uint32_t y) {
    const call_node &p = a.graph.nodes[x];
    const call_node &q = a.graph.nodes[y];
    if (options.sort == sort_order::need && need_of(x) != need_of(y))
      return need_of(x) > need_of(y);
    if (options.sort != sort_order::name && p.frame != q.frame)
      return p.frame > q.frame;
    return std::tie(p.name, p.module, p.entry) < std::tie(q.name, q.module, q.entry);
  });
  return shown;
}

std::int64_t charged(std::int64_t need, const report_options &options) noexcept {
  return need == no_need ? no_need : need + options.signal_charge;
}

std::string_view word_for(certainty c) noexcept {
  switch (c) {
  case certainty::proved:
    return "proved";
  case certainty::assumed:
    return "assumed";
  case certainty::unbounded:
    break;
  }
  return "unbounded";
}

std::string_view word_for(frame_bound b) noexcept {
  switch (b) {
  case frame_bound::exact:
    return "exact";
  case frame_bound::bounded:
    return "bounded";
  case frame_bound::unbounded:
    break;
  }
  return "unbounded";
}

std::string_view words_for(no_bound b) noexcept {
  switch (b) {
  case no_bound::none:
    break;
  case no_bound::dynamic_allocation:
    return "alloca or an array of variable length";
  case no_bound::grows_in_loop:
    return "a loop that pushes more each turn";
  case no_bound::stack_switch:
    return "the stack pointer gets a value from elsewhere";
  case no_bound::undecodable:
    return "bytes that are no instruction";
  case no_bound::unknown_jump:
    return "a jump whose targets are not known";
  case no_bound::disagrees:
    return "code and unwind tables disagree";
  case no_bound::too_large:
    return "too much code to follow: the analysis gave up at its limit";
  case no_bound::pops_arguments:
    return "it takes arguments off the stack of callers that are not known";
  }
  return "";
}

} // namespace nth::stack
