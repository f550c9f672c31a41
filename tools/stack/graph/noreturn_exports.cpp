#include "graph/noreturn_exports.hpp"

#include "code/scan.hpp"

#include <algorithm>

namespace nth::stack {

noreturn_exports::noreturn_exports(const program &p) : whole_(p), scope_(p), scanned_(p.modules.size()) {}

void noreturn_exports::add(std::uint32_t module) { scanned_[module] = true; }

// Of those alone that likely never return: a program that has its own malloc is no library of others for that.
std::vector<std::uint32_t> noreturn_exports::definers_of_imports(std::uint32_t module) const {
  std::vector<bool> asked(whole_.modules.size());
  std::vector<std::uint32_t> all;
  for (const symbol &s : whole_.modules[module].image.symbols) {
    if (!s.dynamic || s.defined || !never_returns(s.name))
      continue;
    const std::vector<definition> found = scope_.find(s);
    if (found.empty() || found.front().module == module || asked[found.front().module])
      continue;
    asked[found.front().module] = true;
    all.push_back(found.front().module);
  }
  return all;
}

std::vector<std::uint32_t> noreturn_exports::order() const {
  struct step {
    std::uint32_t module = 0;
    std::vector<std::uint32_t> before; // to go first
  };
  std::vector<std::uint32_t> all;
  std::vector<bool> met(whole_.modules.size());
  for (auto m = static_cast<std::uint32_t>(whole_.modules.size()); m-- > 0;) {
    if (met[m])
      continue;
    met[m] = true;
    std::vector<step> path;
    path.push_back({m, definers_of_imports(m)});
    while (!path.empty()) {
      if (path.back().before.empty()) {
        all.push_back(path.back().module);
        path.pop_back();
        continue;
      }
      const std::uint32_t next = path.back().before.back();
      path.back().before.pop_back();
      if (met[next])
        continue;
      met[next] = true;
      path.push_back({next, definers_of_imports(next)});
    }
  }
  return all;
}

std::optional<bool> noreturn_exports::ask(std::uint32_t module, const symbol &wanted) const {
  if (wanted.defined && !wanted.global)
    return std::nullopt;
  const std::vector<definition> found = scope_.find(wanted);
  if (found.empty() || found.front().module == module)
    return std::nullopt;
  // A module that is scanned later, for it imports from this one, may define it otherwise than its name tells.
  const analysed_module &m = whole_.modules[found.front().module];
  return scanned_[found.front().module] && std::all_of(found.begin(), found.end(), [&](const definition &d) {
           const std::uint32_t f = m.table.at(d.what->at);
           return d.what->kind == symbol_kind::function && f < m.facts.size() && !m.facts[f].returns;
         });
}

} // namespace nth::stack
