#include "graph/solve_assumptions.hpp"

#include <algorithm>
#include <unordered_map>

namespace nth::stack {

namespace {

struct set_hash {
  std::size_t operator()(const assumption_set &s) const noexcept {
    std::size_t h = s.more ? 1 : 0;
    for (const std::uint32_t a : s.first)
      h = h * 0x9e3779b97f4a7c15U + a;
    return h;
  }
};

// Each different set is kept once, and each union is made once.
class set_pool {
public:
  set_pool() { intern({}); }

  std::uint32_t with(std::uint32_t set, std::uint32_t assumption) {
    return assumption == 0 ? set : join(set, intern({.first = {assumption}}));
  }

  std::uint32_t join(std::uint32_t a, std::uint32_t b) {
    if (a == b || b == 0)
      return a;
    if (a == 0)
      return b;
    const std::uint64_t key = std::uint64_t{std::min(a, b)} << 32 | std::max(a, b);
    const auto [at, is_new] = joined_.try_emplace(key, 0);
    if (is_new)
      at->second = intern(united(sets_[a], sets_[b]));
    return at->second;
  }

  std::vector<assumption_set> take() { return std::move(sets_); }

private:
  static assumption_set united(const assumption_set &a, const assumption_set &b) {
    assumption_set s;
    std::set_union(a.first.begin(), a.first.end(), b.first.begin(), b.first.end(),
                   std::back_inserter(s.first));
    s.more = a.more || b.more || s.first.size() > max_assumptions;
    s.first.resize(std::min(s.first.size(), max_assumptions));
    return s;
  }

  std::uint32_t intern(assumption_set s) {
    const auto [at, is_new] = index_.try_emplace(std::move(s), static_cast<std::uint32_t>(sets_.size()));
    if (is_new)
      sets_.push_back(at->first);
    return at->second;
  }

  std::vector<assumption_set> sets_;
  std::unordered_map<assumption_set, std::uint32_t, set_hash> index_;
  std::unordered_map<std::uint64_t, std::uint32_t> joined_;
};

} // namespace

resting_assumptions find_assumptions(const solver_view &v, const component_list &components) {
  set_pool pool;
  resting_assumptions result;
  result.component.assign(components.size(), 0);
  for (const auto &[node, assumption] : v.notes.resting)
    result.component[components.of[node]] = pool.with(result.component[components.of[node]], assumption);
  for (std::uint32_t c = 0; c < components.size(); ++c) {
    std::uint32_t set = result.component[c];
    std::uint32_t last_assumption = 0;
    std::uint32_t last_set = 0;
    for (const std::uint32_t m : components.in(c))
      for (const live_call &call : v.calls_of(m)) {
        if (call.assumption != last_assumption)
          set = pool.with(set, last_assumption = call.assumption);
        const std::uint32_t callee = result.component[components.of[call.callee]];
        if (components.of[call.callee] != c && callee != last_set)
          set = pool.join(set, last_set = callee);
      }
    result.component[c] = set;
  }
  result.sets = pool.take();
  return result;
}

} // namespace nth::stack
