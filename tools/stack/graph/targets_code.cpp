#include "graph/targets_code.hpp"

#include "graph/targets_data.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <unordered_set>

namespace nth::stack {

namespace {

// PLT stub → slot → symbol → ifunc → implementation, each once or twice; more is a damaged file that goes round.
constexpr unsigned deepest_nesting = 8;
constexpr std::size_t most_resolver_functions = 64;

callees not_known(std::string why) {
  callees c;
  c.open = std::move(why);
  return c;
}

} // namespace

void add_callees(callees &to, const callees &from) {
  std::vector<std::uint32_t> both;
  both.reserve(to.nodes.size() + from.nodes.size());
  std::set_union(to.nodes.begin(), to.nodes.end(), from.nodes.begin(), from.nodes.end(),
                 std::back_inserter(both));
  to.nodes = std::move(both);
  if (to.open.empty())
    to.open = from.open;
  to.lazy = to.lazy || from.lazy;
}

code_targets::code_targets(const program &p)
    : program_(p), scope_(p), node_of_(p.modules.size()), through_slot_(p.modules.size()),
      of_resolver_(p.modules.size()) {
  for (std::uint32_t m = 0; m < p.modules.size(); ++m) {
    const std::vector<function> &functions = p.modules[m].table.functions;
    node_of_[m].assign(functions.size(), no_node);
    for (std::uint32_t f = 0; f < functions.size(); ++f)
      if (functions[f].kind != function_kind::fragment)
        node_of(m, f);
  }
  for (const std::string &library : p.missing)
    missing_ += fmt::format("{}{}", missing_.empty() ? "" : ", ", library);
  if (!missing_.empty())
    missing_ += " not found";
}

std::uint32_t code_targets::node_of(std::uint32_t module, std::uint32_t function) {
  std::uint32_t &node = node_of_[module][function];
  if (node == no_node) {
    node = static_cast<std::uint32_t>(nodes.size());
    nodes.push_back({module, function});
  }
  return node;
}

callees code_targets::at(std::uint32_t module, address a) { return find_at(module, a, 0); }

callees code_targets::through(std::uint32_t module, address slot) { return find_through(module, slot, 0); }

callees code_targets::of_symbol(std::uint32_t module, const symbol &s, std::int64_t addend) {
  return find_symbol(module, s, addend, 0);
}

callees code_targets::implementations(std::uint32_t module, address resolver) {
  return find_implementations(module, resolver, 0);
}

callees code_targets::find_at(std::uint32_t module, address a, unsigned nesting) {
  const analysed_module &m = program_.modules[module];
  if (nesting > deepest_nesting)
    return not_known(fmt::format("stubs and ifuncs at {:#x} lead to each other", a));
  if (const plt_stub *stub = m.image.plt_at(a))
    return find_through(module, stub->slot, nesting + 1);
  if (a == 0 && !m.image.is_code(a))
    return {}; // what code makes of a weak symbol that nobody defines: it does not get there
  const std::uint32_t f = m.table.at(a);
  if (f == no_function)
    return not_known(fmt::format("{:#x} in {} is the beginning of no function", a, m.image.name));
  if (m.table.functions[f].kind == function_kind::resolver)
    return find_implementations(module, a, nesting + 1);
  callees c;
  c.nodes.push_back(node_of(module, f));
  return c;
}

callees code_targets::find_through(std::uint32_t module, address slot, unsigned nesting) {
  const auto known = through_slot_[module].find(slot);
  if (known != through_slot_[module].end())
    return known->second;
  const class module &m = program_.modules[module].image;
  callees c;
  bool written = false; // by a relocation, when the program is loaded
  for (const relocation &r : m.relocations_in(slot, slot + 1)) {
    if (!r.dynamic)
      continue;
    written = true;
    switch (r.kind) {
    case relocation_kind::absolute:
      if (r.symbol < m.symbols.size())
        add_callees(c, find_symbol(module, m.symbols[r.symbol], r.addend, nesting + 1));
      else
        c.open = fmt::format("the relocation at {:#x} in {} has no symbol", slot, m.name);
      break;
    case relocation_kind::relative:
      add_callees(c, find_at(module, static_cast<address>(r.addend), nesting + 1));
      break;
    case relocation_kind::irelative:
      add_callees(c, find_implementations(module, static_cast<address>(r.addend), nesting + 1));
      break;
    default:
      c.open = fmt::format("the word at {:#x} in {} gets no address of code", slot, m.name);
    }
    c.lazy = c.lazy || (r.jump_slot && !m.bound_now);
  }
  if (!written) {
    const std::optional<std::uint64_t> word = m.read_word(slot);
    if (!word)
      c.open = fmt::format("the word at {:#x} is not in {}", slot, m.name);
    else if (*word != 0 && m.position_independent)
      c.open = fmt::format("the word at {:#x} in {} is not relocated", slot, m.name);
    else if (*word != 0)
      add_callees(c, find_at(module, *word, nesting + 1));
  }
  through_slot_[module].emplace(slot, c);
  return c;
}

callees code_targets::find_symbol(std::uint32_t module, const symbol &s, std::int64_t addend,
                                  unsigned nesting) {
  if (s.defined && !s.global)
    return s.kind == symbol_kind::ifunc ? find_implementations(module, s.at, nesting + 1)
                                        : find_at(module, s.at + static_cast<address>(addend), nesting + 1);
  std::vector<definition> found = scope_.find(s);
  if (found.empty() && s.defined)
    found.push_back({module, &s}); // of a kept relocation: the linker bound it here
  if (found.empty()) {
    // ld.so leaves a weak symbol that nobody defines 0, and ends the program for another.
    if (!missing_.empty())
      return not_known(fmt::format("{}: {}", s.name, missing_));
    return s.weak ? callees{} : not_known(fmt::format("{}: no module defines it", s.name));
  }
  callees all;
  for (const definition &d : found)
    add_callees(all, d.what->kind == symbol_kind::ifunc
                         ? find_implementations(d.module, d.what->at, nesting + 1)
                         : find_at(d.module, d.what->at + static_cast<address>(addend), nesting + 1));
  return all;
}

callees code_targets::find_implementations(std::uint32_t module, address resolver, unsigned nesting) {
  const auto known = of_resolver_[module].find(resolver);
  if (known != of_resolver_[module].end())
    return known->second;
  const analysed_module &m = program_.modules[module];
  const std::uint32_t first = m.table.at(resolver);
  if (first == no_function || nesting > deepest_nesting)
    return not_known(
        fmt::format("the resolver of an ifunc at {:#x} in {} is not known", resolver, m.image.name));
  callees c;
  std::vector<std::uint32_t> seen = {first}; // in the order of the walk
  for (std::size_t i = 0; i < seen.size() && seen.size() <= most_resolver_functions; ++i) {
    const function_facts &facts = m.facts[seen[i]];
    named_functions named = functions_in_named_data(m, m.table.functions[seen[i]]);
    named.here.insert(named.here.end(), facts.taken.begin(), facts.taken.end());
    for (const address a : named.here) {
      const std::uint32_t f = m.table.at(a);
      if (f != no_function && m.table.functions[f].kind == function_kind::normal)
        add_callees(c, {{node_of(module, f)}, "", false});
    }
    for (const relocation *r : named.imported)
      if (const symbol &wanted = m.image.symbols[r->symbol]; wanted.kind != symbol_kind::object)
        add_callees(c, {find_symbol(module, wanted, r->addend, nesting + 1).nodes, "", false});
    for (const call_site &s : facts.calls) {
      const std::uint32_t f = s.target != 0 ? m.table.at(s.target) : no_function;
      if (f != no_function && std::find(seen.begin(), seen.end(), f) == seen.end())
        seen.push_back(f);
    }
  }
  if (c.nodes.empty() || seen.size() > most_resolver_functions)
    c.open = fmt::format("{}: what the resolver of this ifunc answers is not known",
                         m.table.functions[first].name);
  of_resolver_[module].emplace(resolver, c);
  return c;
}

} // namespace nth::stack
