#include "graph/targets_signature.hpp"

#include <algorithm>

namespace nth::stack {

namespace {

// Arguments are passed in the order of the registers: where one holds none, those after it do not.
argument_count leading(argument_mask m) {
  argument_count c;
  while (c.integers < integer_arguments && (m >> c.integers & 1U) != 0)
    ++c.integers;
  while (c.vectors < vector_arguments && (m >> (integer_arguments + c.vectors) & 1U) != 0)
    ++c.vectors;
  return c;
}

// What a function that reads these has at least.
argument_count up_to(argument_mask m) {
  argument_count c;
  for (unsigned i = 0; i < integer_arguments; ++i)
    if ((m >> i & 1U) != 0)
      c.integers = i + 1;
  for (unsigned i = 0; i < vector_arguments; ++i)
    if ((m >> (integer_arguments + i) & 1U) != 0)
      c.vectors = i + 1;
  return c;
}

argument_mask first(const argument_count &c) {
  return static_cast<argument_mask>(((1U << c.integers) - 1U) | ((1U << c.vectors) - 1U)
                                                                    << integer_arguments);
}

} // namespace

signature_filter::signature_filter(code_targets &targets)
    : targets_(targets), debug_(targets.whole().modules.size()), global_(targets.whole().modules.size()) {}

const signature *signature_filter::signature_of(std::uint32_t module, std::uint32_t function) {
  const program &p = targets_.whole();
  if (debug_[module] == nullptr)
    debug_[module] = std::make_unique<debug_info>(p.modules[module].image, p.debug_directory);
  return debug_[module]->of(p.modules[module].table.functions[function].entry);
}

// Compilers change the parameters of functions of which they see all calls, but debug information tells of the source.
bool signature_filter::keeps_its_type(std::uint32_t module, std::uint32_t function) {
  const analysed_module &m = targets_.whole().modules[module];
  if (global_[module].empty())
    for (const symbol &s : m.image.symbols)
      if (s.global && s.defined && s.kind == symbol_kind::function)
        global_[module].insert(s.at);
  return global_[module].count(m.table.functions[function].entry) != 0;
}

argument_count signature_filter::taken_by(std::uint32_t node) {
  if (taken_.size() <= node)
    taken_.resize(targets_.nodes.size());
  std::optional<argument_count> &known = taken_[node];
  if (!known) {
    const code_targets::function_place place = targets_.nodes[node];
    const signature *s = signature_of(place.module, place.function);
    known = s != nullptr ? least_arguments(*s)
                         : up_to(targets_.whole().modules[place.module].facts[place.function].consumed);
  }
  return *known;
}

argument_count signature_filter::passed_at(std::uint32_t module, std::uint32_t function, const call_site &s) {
  const auto any = static_cast<argument_mask>(s.written | s.as_entered);
  if (any != s.written && keeps_its_type(module, function))
    if (const signature *own = signature_of(module, function); own != nullptr)
      return leading(static_cast<argument_mask>(s.written | (s.as_entered & first(most_arguments(*own)))));
  return leading(any);
}

const std::vector<std::uint32_t> *signature_filter::fitting(const std::vector<std::uint32_t> &set,
                                                            std::uint32_t module, std::uint32_t function,
                                                            const call_site &s) {
  const argument_count passed = passed_at(module, function, s);
  if (passed.integers >= integer_arguments && passed.vectors >= vector_arguments)
    return &set;
  const auto [at, added] = known_.try_emplace({&set, {passed.integers, passed.vectors}}, &set);
  if (!added)
    return at->second;
  std::vector<std::uint32_t> fit;
  std::copy_if(set.begin(), set.end(), std::back_inserter(fit), [&](std::uint32_t n) {
    const argument_count taken = taken_by(n);
    return taken.integers <= passed.integers && taken.vectors <= passed.vectors;
  });
  if (fit.size() != set.size())
    at->second = &sets_.emplace_back(std::move(fit));
  return at->second;
}

} // namespace nth::stack
