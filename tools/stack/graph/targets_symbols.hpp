// Which definition a name is bound to when the program is loaded, as ld.so(8) looks symbols up.
#pragma once

#include "graph/program.hpp"

#include <unordered_map>

namespace nth::stack {

struct definition {
  std::uint32_t module = 0; // index in program::modules
  const symbol *what = nullptr;
};

class symbol_scope {
public:
  explicit symbol_scope(const program &p);

  // The definition in the first module that has one; more than one where that module has several versions and
  // `wanted` names none. Empty: no module defines it.
  [[nodiscard]] std::vector<definition> find(const symbol &wanted) const;

private:
  std::unordered_map<std::string_view, std::vector<definition>> exported_; // in load order
};

} // namespace nth::stack
