#include "graph/targets_symbols.hpp"

namespace nth::stack {

symbol_scope::symbol_scope(const program &p) {
  for (std::uint32_t i = 0; i < p.modules.size(); ++i)
    for (const symbol &s : p.modules[i].image.symbols)
      if (s.dynamic && s.defined && s.global)
        exported_[s.name].push_back({i, &s});
}

std::vector<definition> symbol_scope::find(const symbol &wanted) const {
  std::vector<definition> found;
  const auto all = exported_.find(wanted.name);
  if (all == exported_.end())
    return found;
  for (const definition &d : all->second) {
    if (!found.empty() && found.front().module != d.module)
      break; // those of later modules are preempted
    // A library without versions answers every request, and a request without version takes the default,
    // which is not told apart here: all versions count.
    if (wanted.version.empty() || d.what->version.empty() || wanted.version == d.what->version)
      found.push_back(d);
  }
  return found;
}

} // namespace nth::stack
