#include "graph/solve_paths.hpp"

#include "graph/back_edges.hpp"
#include "graph/solve_recursion.hpp"

#include <algorithm>

namespace nth::stack {

namespace {

// The larger of two needs, where no bound is larger than any.
std::int64_t larger(std::int64_t a, std::int64_t b) noexcept {
  return a == no_need || b == no_need ? no_need : std::max(a, b);
}

std::int64_t through(const live_call &c, std::int64_t callee) noexcept {
  if (callee == no_need)
    return no_need;
  const std::int64_t sum = add_depths(c.depth, callee);
  return sum >= largest_need ? no_need : sum;
}

class path_finder {
public:
  explicit path_finder(const solver_view &v) : v_(v), local_(v.size()), entered_(v.size()) {
    digraph calls;
    calls.first.reserve(v.size() + 1);
    calls.to.reserve(v.calls.size());
    for (std::uint32_t n = 0; n < v.size(); ++n) {
      for (const live_call &c : v.calls_of(n))
        calls.to.push_back(c.callee);
      calls.end_node();
    }
    paths_.components = strong_components(calls);
    paths_.need.assign(v.size(), no_need);
    paths_.segment.assign(v.size(), no_need);
    paths_.back.assign(v.calls.size(), false);
    paths_.in_cycle.assign(v.size(), false);
    paths_.why = v.why;
  }

  longest_paths run() {
    find_entries();
    for (std::uint32_t c = 0; c < paths_.components.size(); ++c)
      solve(paths_.components.in(c));
    return std::move(paths_);
  }

private:
  [[nodiscard]] const std::vector<std::uint32_t> &component() const noexcept { return paths_.components.of; }

  void find_entries() {
    for (std::uint32_t n = 0; n < v_.size(); ++n)
      for (const live_call &c : v_.calls_of(n))
        if (component()[c.callee] != component()[n])
          entered_[c.callee] = true;
  }

  void solve(std::span<const std::uint32_t> members) {
    bool grows = false;
    outward_.clear();
    outward_segment_.clear();
    for (std::uint32_t i = 0; i < members.size(); ++i) {
      const std::uint32_t m = members[i];
      local_[m] = i;
      std::int64_t need = v_.why[m] == cause::none ? v_.touched[m] : no_need;
      std::int64_t segment = need;
      bool callees_bounded = true;
      for (const live_call &c : v_.calls_of(m)) {
        if (component()[c.callee] == component()[m]) {
          grows = grows || c.depth > 0;
          continue;
        }
        callees_bounded = callees_bounded && paths_.need[c.callee] != no_need;
        need = larger(need, through(c, paths_.need[c.callee]));
        segment = larger(segment, through(c, paths_.segment[c.callee]));
      }
      if (need == no_need && v_.why[m] == cause::none && callees_bounded)
        paths_.why[m] = cause::too_deep;
      outward_.push_back(need);
      outward_segment_.push_back(segment);
    }
    if (grows)
      return solve_recursion(members);

    std::int64_t need = 0;
    std::int64_t segment = 0;
    for (std::uint32_t i = 0; i < members.size(); ++i) {
      need = larger(need, outward_[i]);
      segment = larger(segment, outward_segment_[i]);
    }
    for (const std::uint32_t m : members) {
      paths_.need[m] = need;
      paths_.segment[m] = segment;
    }
  }

  void solve_recursion(std::span<const std::uint32_t> members) {
    for (const std::uint32_t m : members)
      paths_.in_cycle[m] = true;
    const cut_component cut = cut_cycles(v_, members, local_, component(), entered_);
    for (const std::uint32_t call : cut.back)
      paths_.back[call] = true;
    find_segments(members, cut);

    const bool outward_bounded = std::find(outward_.begin(), outward_.end(), no_need) == outward_.end();
    recursion_need bound;
    if (outward_bounded)
      bound = bound_recursion(v_, members, local_, component(), outward_);
    else
      bound.cycle = growing_cycle(v_, members, local_, component());
    if (!bound.cycle.empty()) {
      name_cycle(std::move(bound.cycle));
    } else if (bound.too_deep) {
      for (const std::uint32_t m : members)
        paths_.why[m] = cause::too_deep;
    } else if (outward_bounded) {
      for (std::uint32_t i = 0; i < members.size(); ++i)
        paths_.need[members[i]] = bound.need[i];
    }
  }

  // One with a function that has no bound by itself is not named: that is the cause, for all that reach the cycle too.
  void name_cycle(std::vector<std::uint32_t> cycle) {
    for (const std::uint32_t call : cycle)
      if (paths_.why[v_.calls[call].callee] != cause::none)
        return;
    for (const std::uint32_t call : cycle)
      paths_.why[v_.calls[call].callee] = cause::recursion;
    paths_.cycles.push_back(std::move(cycle));
  }

  // Groups from the last to the first: whatever a call leads to, but for a back edge, is solved before.
  void find_segments(std::span<const std::uint32_t> members, const cut_component &cut) {
    std::vector<std::uint32_t> order(members.size());
    for (std::uint32_t i = 0; i < members.size(); ++i)
      order[i] = i;
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return cut.group[a] > cut.group[b]; });
    std::vector<std::int64_t> segment(cut.groups, 0);
    for (const std::uint32_t i : order) {
      std::int64_t &own = segment[cut.group[i]];
      own = larger(own, outward_segment_[i]);
      for (const live_call &c : v_.calls_of(members[i])) {
        if (component()[c.callee] != component()[members[i]] || paths_.back[&c - v_.calls.data()])
          continue;
        const std::uint32_t callee = cut.group[local_[c.callee]];
        if (callee != cut.group[i])
          own = larger(own, through(c, segment[callee]));
        else if (c.depth > 0) // goes round, grows, and nothing can stand in between
          own = no_need;
      }
    }
    for (std::uint32_t i = 0; i < members.size(); ++i)
      paths_.segment[members[i]] = segment[cut.group[i]];
  }

  const solver_view &v_;
  longest_paths paths_;
  std::vector<std::uint32_t> local_; // of each node, in the component at hand
  std::vector<bool> entered_;        // called from another component
  std::vector<std::int64_t> outward_, outward_segment_;
};

} // namespace

longest_paths find_longest_paths(const solver_view &v) { return path_finder(v).run(); }

} // namespace nth::stack
