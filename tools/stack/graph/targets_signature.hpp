// Which of the functions that a pointer may lead to take no more arguments than the call passes.
//
// What a function takes is told by its debug information, or by the registers that it reads as it got them. What a
// call passes is told by the registers that may have been set for it. Both are bounds: the first from below, the second
// from above, so that functions that ignore arguments stay, and those of which nothing is known.
//
// It is no proof. C leaves a call with another type than the function's undefined, but programs do such calls, and
// one that passes fewer arguments than the function takes works where it does not look at the others.
#pragma once

#include "graph/targets_code.hpp"
#include "image/debug_info.hpp"

#include <deque>
#include <map>
#include <memory>
#include <unordered_set>

namespace nth::stack {

class signature_filter {
public:
  explicit signature_filter(code_targets &targets);

  // Of `set`, which lives as long as this, those that the call `s` of this function may mean; the same address for
  // the same set.
  const std::vector<std::uint32_t> *fitting(const std::vector<std::uint32_t> &set, std::uint32_t module,
                                            std::uint32_t function, const call_site &s);

private:
  [[nodiscard]] const signature *signature_of(std::uint32_t module, std::uint32_t function);
  argument_count taken_by(std::uint32_t node);
  argument_count passed_at(std::uint32_t module, std::uint32_t function, const call_site &s);
  [[nodiscard]] bool keeps_its_type(std::uint32_t module, std::uint32_t function);

  code_targets &targets_;
  std::vector<std::unique_ptr<debug_info>> debug_;   // by module; made when first asked for
  std::vector<std::unordered_set<address>> global_;  // by module: entries that global symbols name
  std::vector<std::optional<argument_count>> taken_; // by node
  using register_counts = std::pair<unsigned, unsigned>;
  std::map<std::pair<const std::vector<std::uint32_t> *, register_counts>, const std::vector<std::uint32_t> *>
      known_;
  std::deque<std::vector<std::uint32_t>> sets_;
};

} // namespace nth::stack
