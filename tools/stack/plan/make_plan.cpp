#include "plan/make_plan.hpp"

#include "nth/growth.h"
#include "patch/call_sites.hpp"
#include "plan/special_calls.hpp"
#include "plan/stack_arguments.hpp"
#include "plan/turns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

namespace nth::stack {

namespace {

constexpr std::int64_t return_address = 8;
// What has no bound, or needs more than the largest stack class: it gets a stack with a guard page, and goes on where
// it is if so much is left there.
constexpr std::uint32_t no_cause = ~std::uint32_t{0};
constexpr std::int64_t guarded_need = 32 * 1024;
// What stands in for functions of the C library calls these, on frames of its own.
constexpr std::uint32_t in_place_need = 4096;
constexpr std::int64_t most_said = std::int64_t{1} << 31;
constexpr std::int64_t largest_segment = 1024 * 1024 - 16 * 1024;

bool by_pointer(edge_kind k) noexcept { return k == edge_kind::indirect || k == edge_kind::indirect_tail; }

class plan_maker {
public:
  plan_maker(const patched_program &program, const call_graph &g, const chosen_stubs &chosen,
             const plan_sizes &sizes, const std::vector<double> &weights)
      : program_(program), g_(g), chosen_(chosen), sizes_(sizes), weights_(weights),
        touched_(argument_bytes(program, g)) {}

  link_plan run() {
    add_entries();
    add_calls();
    add_loaded();
    choose_limits();
    add_turns();
    add_needs();
    add_sites();
    return std::move(plan_);
  }

private:
  [[nodiscard]] const node_need &need_of(std::uint32_t node) const { return chosen_.needs.needs[node]; }

  planned_stub stub_for(std::uint32_t callee, address target) const {
    planned_stub s;
    s.target = target;
    s.name = g_.nodes[callee].name;
    widen(s, callee);
    return s;
  }

  // The stub serves this callee too.
  void widen(planned_stub &s, std::uint32_t callee) const {
    const std::int64_t need = need_of(callee).need;
    if (need == no_need || need > largest_segment) {
      s.flags |= NTH_STUB_GUARDED;
      // More than any stack has: the run says so when a thread gets there.
      const std::int64_t least = need == no_need ? guarded_need : std::min(need, most_said);
      s.need = std::max(s.need, static_cast<std::uint32_t>(least));
    } else {
      s.need = std::max(s.need, static_cast<std::uint32_t>(need));
    }
    s.take = std::max({s.take, s.need, static_cast<std::uint32_t>(sizes_.segment)});
  }

  void add_entries() {
    for (std::uint32_t n = 0; n < g_.nodes.size(); ++n)
      if (chosen_.places.entries[n]) {
        planned_stub s = stub_for(n, g_.nodes[n].entry);
        s.flags |= NTH_STUB_ENTRY;
        take_arguments(s, n, unknown_arguments);
        plan_.stubs.push_back(s);
      }
  }

  // One stub for all calls of a function or slot; those by jumps have one of their own, because what they find above
  // the return address is in the frame of another caller.
  void add_calls() {
    std::map<std::pair<address, int>, std::uint32_t> known;
    std::map<address, std::uint32_t> redirected;
    for (std::size_t i = 0; i < g_.edges.size(); ++i) {
      if (!chosen_.places.calls[i])
        continue;
      const call_edge &e = g_.edges[i];
      const call_place place = call_place_at(program_.image(), e.at);
      const bool slot = place.form != call_form::direct;
      const auto next = static_cast<std::uint32_t>(plan_.stubs.size());
      const auto [at, is_new] = known.try_emplace(
          {place.target, (chosen_.always[i] ? 4 : 0) + (slot ? 2 : 0) + (place.returns ? 1 : 0)}, next);
      if (is_new) {
        plan_.stubs.push_back(stub_for(e.callee, place.target));
        plan_.stubs.back().slot = slot;
        settle(plan_.stubs.back(), e, i);
      }
      planned_stub &s = plan_.stubs[at->second];
      widen(s, e.callee);
      take_arguments(s, e.callee, place.returns ? e.depth : unknown_arguments);
      if (redirected.try_emplace(e.at, at->second).second)
        plan_.calls.push_back({e.at, at->second});
      stub_of_.emplace_back(static_cast<std::uint32_t>(i), at->second);
    }
  }

  // Free ones, for what dlsym finds.
  void add_loaded() {
    const bool loads = std::any_of(plan_.stubs.begin(), plan_.stubs.end(), [](const planned_stub &s) {
      return s.instead_of != 0 && s.in_place == "nth_call_dlsym";
    });
    const address words = program_.symbol("nth_growth_loaded");
    for (unsigned i = 0; loads && i < NTH_LOADED_FUNCTIONS; ++i) {
      planned_stub s;
      s.name = "a loaded function";
      s.slot = true;
      s.target = words + std::uint64_t{8} * i;
      s.need = s.take = static_cast<std::uint32_t>(guarded_need);
      s.flags = NTH_STUB_LOADED | NTH_STUB_GUARDED | NTH_STUB_BY_SITE;
      plan_.stubs.push_back(s);
    }
  }

  void settle(planned_stub &s, const call_edge &e, std::size_t index) const {
    const special_call special = special_call_of(g_.nodes[e.callee]);
    if (!chosen_.always[index])
      return;
    s.longjmp = special.flags != 0;
    s.flags |= special.flags;
    if (special.in_place.empty())
      return;
    s.instead_of = s.target;
    s.in_place = special.in_place;
    s.need = std::max(s.need, in_place_need);
    s.take = std::max(s.take, in_place_need);
    s.target = program_.symbol(special.in_place);
    s.slot = false;
  }

  // What a stub on a back edge takes is to hold so many turns. Each is checked against the threshold.
  void add_turns() {
    if (sizes_.turns <= 1)
      return;
    const turn_lengths turns(g_, chosen_);
    for (const auto &[edge, stub] : stub_of_) {
      planned_stub &s = plan_.stubs[stub];
      if (!chosen_.back[edge] || (s.flags & NTH_STUB_GUARDED) != 0)
        continue;
      const auto threshold = std::lower_bound(plan_.thresholds.begin(), plan_.thresholds.end(), s.need);
      const std::int64_t wanted = *threshold + (sizes_.turns - 1) * turns.of(edge);
      s.take = std::max(s.take, static_cast<std::uint32_t>(std::min(wanted, largest_segment)));
    }
  }

  // What the callee touches; else what the caller has above its call; else libnth finds that by the return address.
  void take_arguments(planned_stub &s, std::uint32_t callee, std::int64_t depth) const {
    const std::int64_t touched = touched_[callee];
    if (depth == unknown_arguments && touched == unknown_arguments) {
      s.flags |= NTH_STUB_BY_SITE;
      return;
    }
    std::uint32_t bytes = depth == unknown_arguments ? ~std::uint32_t{0} : arguments_at(depth);
    if (touched != unknown_arguments)
      bytes = std::min(bytes, static_cast<std::uint32_t>(std::min(touched, largest_segment)));
    s.arguments = std::max(s.arguments, bytes);
  }

  // The rest of the caller's frame, up to its own return address.
  static std::uint32_t arguments_at(std::int64_t depth) noexcept {
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(depth - return_address, 0, largest_segment));
  }

  void choose_limits() {
    const std::vector<double> often = how_often();
    std::vector<weighed_need> needs;
    for (std::size_t i = 0; i < plan_.stubs.size(); ++i)
      if ((plan_.stubs[i].flags & NTH_STUB_LONGJMP) == 0)
        needs.push_back({plan_.stubs[i].need, often[i]});
    plan_.thresholds = choose_thresholds(std::move(needs));
  }

  // Of each stub; without a profile a recursion's is taken for a frequent one.
  [[nodiscard]] std::vector<double> how_often() const {
    constexpr double of_recursion = 64;
    std::vector<double> often(plan_.stubs.size(), 1);
    for (const auto &[edge, stub] : stub_of_)
      often[stub] += !weights_.empty() ? weights_[edge] : chosen_.back[edge] ? of_recursion : 0;
    std::unordered_map<address, std::size_t> entry;
    for (std::size_t i = 0; i < plan_.stubs.size(); ++i)
      if ((plan_.stubs[i].flags & NTH_STUB_ENTRY) != 0)
        entry.emplace(plan_.stubs[i].target, i);
    for (std::size_t e = 0; e < weights_.size(); ++e)
      if (by_pointer(g_.edges[e].kind))
        if (const auto s = entry.find(g_.nodes[g_.edges[e].callee].entry); s != entry.end())
          often[s->second] += weights_[e];
    return often;
  }

  void add_needs() {
    const std::vector<std::uint32_t> guarded = unbounded_callees();
    for (std::uint32_t n = 0; n < g_.nodes.size(); ++n) {
      if (!g_.nodes[n].address_taken || !program_.is_patched(n))
        continue;
      const node_need &need = need_of(n);
      planned_need entry;
      entry.function = g_.nodes[n].entry;
      entry.flags = need.may_block ? NTH_NEED_BLOCKS : 0U;
      if (need.sure == certainty::unbounded || need.need > largest_segment) {
        entry.flags |= NTH_NEED_UNBOUNDED;
        entry.reason = need.sure == certainty::unbounded
                           ? need.reason
                           : fmt::format("it needs {} bytes, more than the largest stack holds", need.need);
      } else {
        // With less it would go to a segment at once; what needs less than a stub has none.
        entry.need = static_cast<std::uint32_t>(
            need.need < chosen_.places.charge ? need.need : std::max(need.need, sizes_.first));
        if (entry.reason = doubt_of(need); !entry.reason.empty())
          entry.flags |= NTH_NEED_ASSUMED;
        if (guarded[n] != no_cause) {
          entry.flags |= NTH_NEED_GUARDED;
          entry.reason = fmt::format("it may call {}, which has no bound: {}", g_.nodes[guarded[n]].name,
                                     need_of(guarded[n]).reason);
        }
      }
      plan_.needs.push_back(std::move(entry));
    }
  }

  // The first assumption that neither libnth's tests nor its start (growth/bind.cpp) make sure of; "": none.
  [[nodiscard]] std::string doubt_of(const node_need &need) const {
    for (const std::uint32_t a : need.assumptions) {
      const std::string &text = chosen_.needs.assumptions[a];
      if (text.find("NTH_CALL_STACK of nth.h") == std::string::npos &&
          !text.starts_with("calls are bound when"))
        return text;
    }
    return need.more_assumptions ? chosen_.needs.assumptions[need.assumptions.back()] : "";
  }

  // Of each node: a function without a bound that it may reach, nearest first; no_cause.
  std::vector<std::uint32_t> unbounded_callees() const {
    std::vector<std::vector<std::uint32_t>> callers(g_.nodes.size());
    std::vector<std::uint32_t> found(g_.nodes.size(), no_cause);
    std::vector<std::uint32_t> queue;
    const auto add = [&](std::uint32_t n, std::uint32_t cause) {
      if (found[n] == no_cause) {
        found[n] = cause;
        queue.push_back(n);
      }
    };
    for (std::size_t i = 0; i < g_.edges.size(); ++i) {
      const call_edge &e = g_.edges[i];
      const bool jumps = chosen_.always[i] && special_call_of(g_.nodes[e.callee]).flags != 0; // where it is
      if (chosen_.needs.dropped[i] || jumps)
        continue;
      callers[e.callee].push_back(e.caller);
      if (need_of(e.callee).need == no_need && !g_.nodes[e.callee].is_set)
        add(e.caller, e.callee);
    }
    for (std::size_t i = 0; i < queue.size(); ++i)
      if (!chosen_.needs.closed[queue[i]])
        for (const std::uint32_t c : callers[queue[i]])
          add(c, found[queue[i]]);
    return found;
  }

  // Calls through pointers, and calls from which a jump may lead to such a stub.
  void add_sites() {
    const std::vector<bool> jumps = may_jump();
    std::unordered_set<address> wanted;
    for (const call_edge &e : g_.edges) {
      const call_site *s = program_.call_of(e);
      if (s == nullptr || s->next == 0 || !wanted_site(e, jumps) || !wanted.insert(s->next).second)
        continue;
      plan_.sites.push_back({s->next, arguments_at(s->depth)});
    }
  }

  [[nodiscard]] bool wanted_site(const call_edge &e, const std::vector<bool> &jumps) const {
    return by_pointer(e.kind) || jumps[e.callee];
  }

  std::vector<bool> may_jump() const {
    std::vector<bool> found(g_.nodes.size());
    for (bool more = true; more;) {
      more = false;
      for (std::size_t i = 0; i < g_.edges.size(); ++i) {
        const call_edge &e = g_.edges[i];
        const bool jump = e.kind == edge_kind::tail || e.kind == edge_kind::indirect_tail;
        if (!jump || found[e.caller])
          continue;
        if (e.kind == edge_kind::indirect_tail || chosen_.places.calls[i] || found[e.callee])
          found[e.caller] = more = true;
      }
    }
    return found;
  }

  const patched_program &program_;
  const call_graph &g_;
  const chosen_stubs &chosen_;
  const plan_sizes &sizes_;
  const std::vector<double> &weights_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> stub_of_; // of each edge that has one at its call
  std::vector<std::int64_t> touched_;                            // of each node, above its return address
  link_plan plan_;
};

} // namespace

link_plan make_plan(const patched_program &program, const call_graph &g, const chosen_stubs &chosen,
                    const plan_sizes &sizes, const std::vector<double> &weights) {
  return plan_maker(program, g, chosen, sizes, weights).run();
}

} // namespace nth::stack
