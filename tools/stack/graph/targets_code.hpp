// Where control goes that leaves for an address or through a slot of the GOT: to a function of this module, through
// a PLT stub to one of another, to any implementation of an ifunc.
#pragma once

#include "graph/targets_symbols.hpp"

namespace nth::stack {

inline constexpr std::uint32_t no_node = ~std::uint32_t{0};

struct callees {
  std::vector<std::uint32_t> nodes; // sorted, each once
  std::string open;                 // why there may be others; "": there are none
  bool lazy = false;                // bound at the first call
};

void add_callees(callees &to, const callees &from);

class code_targets {
public:
  explicit code_targets(const program &p);
  code_targets(const code_targets &) = delete;
  code_targets &operator=(const code_targets &) = delete;

  // Nodes are functions; fragments are parts of them, and get a node only when somebody calls one.
  struct function_place {
    std::uint32_t module = 0;
    std::uint32_t function = 0;
  };
  std::vector<function_place> nodes;
  std::uint32_t node_of(std::uint32_t module, std::uint32_t function);

  // Of a call or jump to `a`: a function, a PLT stub, or an ifunc.
  callees at(std::uint32_t module, address a);
  // Of a call through the word at `slot`, as it is after the program was loaded.
  callees through(std::uint32_t module, address slot);
  // Of a call of this symbol from `module`.
  callees of_symbol(std::uint32_t module, const symbol &s, std::int64_t addend);
  // Functions that the resolver of an ifunc may answer: those whose address it takes, or data that it names holds; or
  // that whom it calls does.
  callees implementations(std::uint32_t module, address resolver);

  [[nodiscard]] const program &whole() const noexcept { return program_; }

private:
  callees find_at(std::uint32_t module, address a, unsigned nesting);
  callees find_through(std::uint32_t module, address slot, unsigned nesting);
  callees find_symbol(std::uint32_t module, const symbol &s, std::int64_t addend, unsigned nesting);
  callees find_implementations(std::uint32_t module, address resolver, unsigned nesting);

  const program &program_;
  symbol_scope scope_;
  std::vector<std::vector<std::uint32_t>> node_of_;                // by module, by function
  std::vector<std::unordered_map<address, callees>> through_slot_; // by module
  std::vector<std::unordered_map<address, callees>> of_resolver_;  // by module
  std::string missing_;                                            // "a.so, b.so: not found", or ""
};

} // namespace nth::stack
