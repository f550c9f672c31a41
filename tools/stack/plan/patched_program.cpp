#include "plan/patched_program.hpp"

#include "graph/targets_taken.hpp"

namespace nth::stack {

patched_program::patched_program(const program &p, const call_graph &g)
    : program_(p), function_of_(g.nodes.size(), no_function), facts_of_(g.nodes.size()) {
  std::unordered_map<std::string_view, const analysed_module *> modules;
  for (const analysed_module &m : p.modules)
    modules.try_emplace(m.image.name, &m);
  for (std::uint32_t n = 0; n < g.nodes.size(); ++n) {
    const call_node &node = g.nodes[n];
    const auto in = modules.find(node.module);
    if (node.is_set || in == modules.end())
      continue;
    const std::uint32_t f = in->second->table.at(node.entry);
    if (f == no_function)
      continue;
    facts_of_[n] = &in->second->facts[f];
    if (in->second == &executable() && !in_library_of_nth(node.entry))
      function_of_[n] = f;
  }
  // A fragment's calls are among those of all functions that reach it, at equal depths or deeper ones.
  for (const function_facts &f : executable().facts)
    for (const call_site &s : f.calls) {
      const auto [place, is_new] = calls_.try_emplace(s.at, &s);
      if (!is_new && place->second->depth < s.depth)
        place->second = &s;
    }
}

const call_site *patched_program::call_of(const call_edge &e) const noexcept {
  if (!is_patched(e.caller))
    return nullptr;
  const auto found = calls_.find(e.at);
  return found == calls_.end() ? nullptr : found->second;
}

address patched_program::symbol(std::string_view name) const noexcept {
  for (const nth::stack::symbol &s : image().symbols)
    if (s.defined && s.name == name)
      return s.at;
  return 0;
}

bool patched_program::in_library_of_nth(address a) const noexcept { return is_code_of_nth(image(), a); }

} // namespace nth::stack
