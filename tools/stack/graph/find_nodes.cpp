#include "graph/find_nodes.hpp"

#include "notes/names.hpp"

#include <algorithm>

namespace nth::stack {

namespace {

constexpr std::uint32_t no_node = ~std::uint32_t{0};

// '*' stands for any characters.
bool matches(std::string_view pattern, std::string_view text) noexcept {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  return std::all_of(pattern.begin() + static_cast<std::ptrdiff_t>(p), pattern.end(),
                     [](char c) { return c == '*'; });
}

bool is_end_of(std::string_view bare, std::string_view written) noexcept {
  return bare == written || (bare.size() > written.size() + 2 && bare.ends_with(written) &&
                             bare.substr(bare.size() - written.size() - 2, 2) == "::");
}

// One of its names ends so.
bool may_be_written(const call_node &node, std::string_view bare) {
  const auto ends_so = [&](const std::string &name) {
    return is_end_of(without_parameters(without_clone(name)), bare);
  };
  return ends_so(node.name) || std::any_of(node.aliases.begin(), node.aliases.end(), ends_so);
}

// "& ns::f<int>" → "ns::f"
std::string written_bare(std::string_view written) {
  const std::size_t begin = written.find_first_not_of("&: ");
  return without_parameters(begin == std::string_view::npos ? std::string_view() : written.substr(begin));
}

} // namespace

node_finder::node_finder(const call_graph &g, const annotations &notes) : graph_(g) {
  const auto want = [this](const std::string &name) {
    exact_[name];
    if (name.ends_with('*'))
      prefix_[name.substr(0, name.size() - 1)];
  };
  for (const annotation &note : notes.list) {
    if (note.within == 0)
      want(note.function);
    for (const std::string &name : note.names) {
      want(name);
      if (note.kind == annotation::what::targets)
        last_part_[std::string(last_part(written_bare(name)))];
    }
  }
  index_entries(notes);
  if (exact_.empty())
    return;

  for (std::uint32_t i = 0; i < g.nodes.size(); ++i) {
    const call_node &node = g.nodes[i];
    if (node.is_set)
      continue;
    index_name(node.name, i);
    if (node.symbol != node.name)
      index_name(node.symbol, i);
    for (const std::string &alias : node.aliases)
      index_name(alias, i);
  }
}

void node_finder::index_name(std::string_view name, std::uint32_t node) {
  const auto add = [node](std::vector<std::uint32_t> &nodes) {
    if (nodes.empty() || nodes.back() != node)
      nodes.push_back(node);
  };
  const std::string_view whole = without_clone(name);
  for (const std::string_view each : {name, whole})
    if (const auto found = exact_.find(std::string(each)); found != exact_.end())
      add(found->second);
  for (auto &[prefix, nodes] : prefix_)
    if (name.starts_with(prefix))
      add(nodes);
  if (last_part_.empty())
    return;
  if (const auto found = last_part_.find(std::string(last_part(without_parameters(whole))));
      found != last_part_.end())
    add(found->second);
}

void node_finder::index_entries(const annotations &notes) {
  for (const annotation &note : notes.list)
    if (note.within != 0)
      by_entry_[note.module];
  if (by_entry_.empty())
    return;
  for (std::uint32_t i = 0; i < graph_.nodes.size(); ++i)
    if (const auto list = by_entry_.find(graph_.nodes[i].module);
        list != by_entry_.end() && !graph_.nodes[i].is_set)
      list->second.emplace_back(graph_.nodes[i].entry, i);
  for (auto &[module, list] : by_entry_)
    std::sort(list.begin(), list.end());
}

std::vector<std::uint32_t> node_finder::named(const std::string &name) const {
  if (const auto found = exact_.find(name); found != exact_.end() && !found->second.empty())
    return found->second;
  if (name.ends_with('*'))
    if (const auto found = prefix_.find(name.substr(0, name.size() - 1)); found != prefix_.end())
      return found->second;
  return {};
}

std::vector<std::uint32_t> node_finder::meant_by(const std::string &name) const {
  std::vector<std::uint32_t> found = named(name);
  const std::string bare = written_bare(name);
  if (const auto likely = last_part_.find(std::string(last_part(bare))); likely != last_part_.end())
    for (const std::uint32_t node : likely->second)
      if (may_be_written(graph_.nodes[node], bare))
        found.push_back(node);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::vector<std::uint32_t> node_finder::around(const std::string &module, address within) const {
  const auto list = by_entry_.find(module);
  if (list == by_entry_.end())
    return {};
  auto after = std::upper_bound(list->second.begin(), list->second.end(), std::pair(within, no_node));
  std::vector<std::uint32_t> found;
  while (after != list->second.begin() &&
         (found.empty() || (after - 1)->first == graph_.nodes[found.back()].entry))
    found.push_back((--after)->second);
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<std::uint32_t> node_finder::about(const annotation &note) const {
  if (note.within != 0)
    return around(note.module, note.within);
  std::vector<std::uint32_t> found = named(note.function);
  if (!note.module.empty())
    std::erase_if(found, [&](std::uint32_t n) { return !matches(note.module, graph_.nodes[n].module); });
  return found;
}

} // namespace nth::stack
