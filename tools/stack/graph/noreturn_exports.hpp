// Who never returns, of the functions that modules export to each other; told by the code of whoever a name is bound to,
// so that its module has to be scanned before those that ask.
#pragma once

#include "graph/targets_symbols.hpp"

#include <optional>

namespace nth::stack {

class noreturn_exports {
public:
  explicit noreturn_exports(const program &p);

  // Last ones first, as load order has libraries behind their users, but each after those that define what ends its
  // calls; where they do that for each other, somehow.
  [[nodiscard]] std::vector<std::uint32_t> order() const;

  // The module's facts are there.
  void add(std::uint32_t module);

  // Of a call of the symbol from `module`. nullopt: it is bound to the module itself, or no module defines it.
  [[nodiscard]] std::optional<bool> ask(std::uint32_t module, const symbol &wanted) const;

private:
  [[nodiscard]] std::vector<std::uint32_t> definers_of_imports(std::uint32_t module) const;

  const program &whole_;
  symbol_scope scope_;
  std::vector<bool> scanned_; // by module
};

} // namespace nth::stack
