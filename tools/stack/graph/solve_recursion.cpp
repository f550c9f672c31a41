#include "graph/solve_recursion.hpp"

#include <algorithm>

namespace nth::stack {

namespace {

constexpr std::int64_t unreachable = -1;
constexpr std::uint32_t unseen = ~std::uint32_t{0};
constexpr int cycles_compared = 8; // of these the shortest is named

// Members without annotation, and the calls between them.
struct free_part {
  std::vector<bool> is_free; // of each member
  component_list parts;      // annotated members are alone in theirs
};

template <typename F>
void each_inner_call(const solver_view &v, std::uint32_t node, const std::vector<std::uint32_t> &component,
                     F &&f) {
  for (const live_call &c : v.calls_of(node))
    if (component[c.callee] == component[node])
      f(c);
}

free_part part_without_notes(const solver_view &v, std::span<const std::uint32_t> members,
                             const std::vector<std::uint32_t> &local,
                             const std::vector<std::uint32_t> &component) {
  free_part part;
  for (const std::uint32_t m : members)
    part.is_free.push_back(!v.notes.entered.contains(m));
  digraph g;
  for (const std::uint32_t m : members) {
    if (part.is_free[local[m]])
      each_inner_call(v, m, component, [&](const live_call &c) {
        if (part.is_free[local[c.callee]])
          g.to.push_back(local[c.callee]);
      });
    g.end_node();
  }
  part.parts = strong_components(g);
  return part;
}

// Shortest ways inside of one part, by breadth.
class way_search {
public:
  way_search(const solver_view &v, std::span<const std::uint32_t> members,
             const std::vector<std::uint32_t> &local, const std::vector<std::uint32_t> &component,
             const free_part &part)
      : v_(v), local_(local), component_(component), part_(part), by_(members.size()), from_(members.size()),
        run_(members.size(), 0) {}

  // Calls from `from` to `to`, fewer than `limit` of them; empty if there is no such way.
  std::vector<std::uint32_t> find(std::uint32_t from, std::uint32_t to, std::size_t limit) {
    ++runs_;
    std::vector<std::uint32_t> layer = {from};
    run_[local_[from]] = runs_;
    for (std::size_t length = 1; length < limit && !layer.empty(); ++length) {
      std::vector<std::uint32_t> next;
      for (const std::uint32_t node : layer)
        if (look_from(node, to, next))
          return way_back(from, to);
      layer = std::move(next);
    }
    return {};
  }

private:
  bool look_from(std::uint32_t node, std::uint32_t to, std::vector<std::uint32_t> &next) {
    for (const live_call &c : v_.calls_of(node)) {
      if (component_[c.callee] != component_[node])
        continue;
      const std::uint32_t callee = local_[c.callee];
      if (!part_.is_free[callee] || part_.parts.of[callee] != part_.parts.of[local_[node]] ||
          run_[callee] == runs_)
        continue;
      run_[callee] = runs_;
      by_[callee] = static_cast<std::uint32_t>(&c - v_.calls.data());
      from_[callee] = node;
      if (c.callee == to)
        return true;
      next.push_back(c.callee);
    }
    return false;
  }

  std::vector<std::uint32_t> way_back(std::uint32_t from, std::uint32_t to) {
    std::vector<std::uint32_t> way;
    for (std::uint32_t node = to; node != from; node = from_[local_[node]])
      way.push_back(by_[local_[node]]);
    std::reverse(way.begin(), way.end());
    return way;
  }

  const solver_view &v_;
  const std::vector<std::uint32_t> &local_;
  const std::vector<std::uint32_t> &component_;
  const free_part &part_;
  std::vector<std::uint32_t> by_, from_, run_;
  std::uint32_t runs_ = 0;
};

std::vector<std::uint32_t> cycle_in(const solver_view &v, std::span<const std::uint32_t> members,
                                    const std::vector<std::uint32_t> &local,
                                    const std::vector<std::uint32_t> &component, const free_part &part) {
  std::vector<std::uint32_t> best;
  way_search search(v, members, local, component, part);
  int compared = 0;
  for (const std::uint32_t m : members) {
    if (!part.is_free[local[m]])
      continue;
    for (const live_call &c : v.calls_of(m)) {
      if (c.depth == 0 || component[c.callee] != component[m] || !part.is_free[local[c.callee]] ||
          part.parts.of[local[c.callee]] != part.parts.of[local[m]])
        continue;
      const auto call = static_cast<std::uint32_t>(&c - v.calls.data());
      if (c.callee == m)
        return {call};
      std::vector<std::uint32_t> back = search.find(c.callee, m, best.empty() ? unseen : best.size() - 1);
      if (!back.empty()) {
        back.insert(back.begin(), call);
        best = std::move(back);
      }
      if (++compared == cycles_compared)
        return best;
    }
  }
  return best;
}

struct lengths {
  std::int64_t end = 0;            // longest way to where nothing annotated follows
  std::int64_t next = unreachable; // longest way to an annotated function
};

void extend(lengths &l, const live_call &c, bool to_free, const lengths &callee) {
  if (!to_free) {
    l.next = std::max(l.next, c.depth);
    return;
  }
  l.end = std::max(l.end, add_depths(c.depth, callee.end));
  if (callee.next != unreachable)
    l.next = std::max(l.next, add_depths(c.depth, callee.next));
}

std::int64_t times(std::int64_t n, std::int64_t length) noexcept {
  return length > 0 && n > largest_need / length ? largest_need : n * length;
}

} // namespace

std::vector<std::uint32_t> growing_cycle(const solver_view &v, std::span<const std::uint32_t> members,
                                         const std::vector<std::uint32_t> &local,
                                         const std::vector<std::uint32_t> &component) {
  return cycle_in(v, members, local, component, part_without_notes(v, members, local, component));
}

recursion_need bound_recursion(const solver_view &v, std::span<const std::uint32_t> members,
                               const std::vector<std::uint32_t> &local,
                               const std::vector<std::uint32_t> &component,
                               const std::vector<std::int64_t> &outward) {
  recursion_need result;
  const free_part part = part_without_notes(v, members, local, component);
  result.cycle = cycle_in(v, members, local, component, part);
  if (!result.cycle.empty())
    return result;

  // Parts of more than one member go round by jumps alone: all of them have the same lengths.
  std::vector<lengths> of(members.size());
  const auto take_calls = [&](std::uint32_t member, lengths &l, bool also_own_part) {
    each_inner_call(v, members[member], component, [&](const live_call &c) {
      const std::uint32_t callee = local[c.callee];
      if (also_own_part || part.parts.of[callee] != part.parts.of[member])
        extend(l, c, part.is_free[callee], of[callee]);
    });
  };
  for (std::uint32_t p = 0; p < part.parts.size(); ++p) {
    if (!part.is_free[part.parts.in(p).front()])
      continue;
    lengths l;
    for (const std::uint32_t member : part.parts.in(p)) {
      l.end = std::max(l.end, outward[member]);
      take_calls(member, l, false);
    }
    for (const std::uint32_t member : part.parts.in(p))
      of[member] = l;
  }

  std::int64_t rounds = 0; // Σ n(a)·step(a)
  std::int64_t last = 0;   // max of end(a) - step(a)
  bool first = true;
  for (std::uint32_t i = 0; i < members.size(); ++i) {
    if (part.is_free[i])
      continue;
    lengths l{.end = outward[i], .next = unreachable};
    take_calls(i, l, true);
    const std::int64_t step = std::max<std::int64_t>(l.next, 0);
    rounds = add_depths(rounds, times(v.notes.entered.at(members[i]), step));
    last = first ? l.end - step : std::max(last, l.end - step);
    first = false;
  }
  result.too_deep = rounds >= largest_need || add_depths(rounds, last) >= largest_need;
  if (result.too_deep)
    return result;
  for (std::uint32_t i = 0; i < members.size(); ++i) {
    std::int64_t need = rounds + last;
    if (part.is_free[i])
      need = std::max(of[i].end, of[i].next == unreachable ? 0 : add_depths(of[i].next, rounds + last));
    result.too_deep = result.too_deep || need >= largest_need;
    result.need.push_back(need);
  }
  return result;
}

} // namespace nth::stack
